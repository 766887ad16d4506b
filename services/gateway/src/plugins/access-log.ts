import type { Logger } from '@orrery/service-kit';
import type { FastifyInstance } from 'fastify';
import { pathOf } from '../http/request-path.js';
import { principalOf } from '../http/request-principal.js';

/** Longer paths are cut in the log. */
const MAX_PATH = 512;

/** One line per answered request. Queries, headers and bodies stay out: they may hold secrets. */
export function addAccessLog(app: FastifyInstance, logger: Logger): void {
  app.addHook('onResponse', async (request, reply) => {
    const principal = principalOf(request);
    logger.info(
      {
        requestId: request.id,
        method: request.method,
        path: pathOf(request.url).slice(0, MAX_PATH),
        route: request.routeOptions.url,
        status: reply.statusCode,
        ms: Math.round(reply.elapsedTime * 10) / 10,
        address: request.ip,
        accountId: principal?.accountId,
        keyId: principal?.keyId,
      },
      'request',
    );
  });
}
