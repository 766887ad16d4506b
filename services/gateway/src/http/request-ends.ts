import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

export interface RequestEnd {
  /** How long it took, in milliseconds. */
  ms: number;
  /** The pattern of its route, if any: asked for once, since the framework makes an object to answer. */
  route: string | undefined;
}

/** Hears of a request that is over, answered or not. */
type AtEnd = (request: FastifyRequest, reply: FastifyReply, end: RequestEnd) => void;

/** Where the rooms that care for ends of requests say so. */
export type OnRequestEnd = (atEnd: AtEnd) => void;

/** Tells of every request's end, also when the client left before its answer: one listener per request for all who ask. */
export function watchRequestEnds(app: FastifyInstance): OnRequestEnd {
  const told: AtEnd[] = [];
  app.addHook('onRequest', (request, reply, done) => {
    const startedAt = performance.now();
    // A response closes once: `on` spares what `once` must undo.
    reply.raw.on('close', () => {
      const end = { ms: performance.now() - startedAt, route: request.routeOptions.url };
      for (const atEnd of told) atEnd(request, reply, end);
    });
    done();
  });
  return (atEnd) => void told.push(atEnd);
}
