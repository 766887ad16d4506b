import { type Cancellation, Canceller } from '@orrery/contracts';
import type { FastifyReply } from 'fastify';

/** Aborts when the client goes away before its answer is written. */
export function signalOfClient(reply: FastifyReply): Cancellation {
  const gone = new Canceller();
  // A response closes once: `on` spares what `once` must undo.
  reply.raw.on('close', () => {
    if (!reply.raw.writableFinished) gone.abort(new Error('the client went away'));
  });
  return gone;
}
