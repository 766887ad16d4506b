import { ServiceError } from '@orrery/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pathOf } from './request-path.js';
import type { RouteTable } from './route-table.js';

/**
 * Answers 404 for unknown paths and 405 with `Allow` for known ones (RFC 9110 §15.5.6), before any body is read.
 */
export function answerUnknownRoutes(app: FastifyInstance, routes: RouteTable): void {
  const refusal = (request: FastifyRequest, reply: FastifyReply): ServiceError => {
    const allowed = routes.methodsOf(pathOf(request.url));
    if (allowed.length === 0) return new ServiceError('route_not_found');
    reply.header('allow', allowed.join(', '));
    return new ServiceError('method_not_allowed', `This path takes ${allowed.join(', ')}`);
  };
  app.addHook('onRequest', (request, reply, done) =>
    request.is404 ? done(refusal(request, reply)) : done(),
  );
  app.setNotFoundHandler(async (request, reply) => {
    throw refusal(request, reply);
  });
}
