import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Hears of a request that is over, answered or not, and how long it took, in milliseconds. */
type AtEnd = (request: FastifyRequest, reply: FastifyReply, ms: number) => void;

/** Where the rooms that care for ends of requests say so. */
export type OnRequestEnd = (atEnd: AtEnd) => void;

/** Tells of every request's end, also when the client left before its answer: one listener per request for all who ask. */
export function watchRequestEnds(app: FastifyInstance): OnRequestEnd {
  const told: AtEnd[] = [];
  app.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    // A response closes once: `on` spares what `once` must undo.
    reply.raw.on('close', () => {
      const ms = performance.now() - startedAt;
      for (const atEnd of told) atEnd(request, reply, ms);
    });
    done();
  });
  return (atEnd) => void told.push(atEnd);
}
