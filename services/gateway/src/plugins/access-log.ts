import { type Logger, withoutRedaction } from '@orrery/service-kit';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pathOf } from '../http/request-path.js';
import { principalOf } from '../http/request-principal.js';

/** Longer paths are cut in the log. */
const MAX_PATH = 512;

/** One line per request, also when the client left before its answer. */
export function addAccessLog(app: FastifyInstance, logger: Logger): void {
  const lines = withoutRedaction(logger);
  app.addHook('onRequest', (request, reply, done) => {
    if (!lines.isLevelEnabled('info')) return done();
    const startedAt = performance.now();
    reply.raw.once('close', () =>
      lines.info(lineOf(request, reply, performance.now() - startedAt), 'request'),
    );
    done();
  });
}

/** Queries, headers and bodies stay out: they may hold secrets. */
function lineOf(request: FastifyRequest, reply: FastifyReply, ms: number): object {
  const principal = principalOf(request);
  return {
    requestId: request.id,
    method: request.method,
    path: pathOf(request.url).slice(0, MAX_PATH),
    route: request.routeOptions.url,
    status: reply.statusCode,
    ...(!reply.raw.writableFinished && { aborted: true }),
    ms: Math.round(ms * 10) / 10,
    address: request.ip,
    accountId: principal?.accountId,
    keyId: principal?.keyId,
  };
}
