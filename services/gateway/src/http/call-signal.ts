import type { FastifyReply } from 'fastify';

/** Aborts when the client goes away before its answer is written. */
export function signalOfClient(reply: FastifyReply): AbortSignal {
  const gone = new AbortController();
  reply.raw.once('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Error('the client went away'));
  });
  return gone.signal;
}
