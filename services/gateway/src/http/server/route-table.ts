import { ServiceError } from '@orrery/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pathOf } from '../../core/requests/request-schema.js';

export type RouteTable = ReturnType<typeof recordRoutes>;

/** Collects every route that is added to the application from now on. */
export function recordRoutes(app: FastifyInstance) {
  const known: { pattern: RegExp; methods: readonly string[] }[] = [];
  app.addHook('onRoute', ({ url, method }) => {
    known.push({ pattern: patternOf(url), methods: [method].flat() });
  });
  return {
    /** Which methods a path takes. Read only when no route fits, so it may be slow. */
    methodsOf: (path: string): string[] => {
      const methods = known.filter(({ pattern }) => pattern.test(path)).flatMap((route) => route.methods);
      return methods.length === 0 ? [] : [...new Set([...methods, 'OPTIONS'])].sort();
    },
  };
}

function patternOf(url: string): RegExp {
  const segments = url.split('/').map((segment) => {
    if (segment.startsWith(':')) return '[^/]+';
    return segment === '*' ? '.*' : segment.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  });
  return new RegExp(`^${segments.join('/')}$`);
}

/** Answers 404 for unknown paths and 405 with `Allow` for known ones (RFC 9110 §15.5.6), before any body is read. */
export function answerUnknownRoutes(app: FastifyInstance, routes: RouteTable): void {
  const advice = (path: string): string =>
    path.endsWith('/') && routes.methodsOf(path.slice(0, -1)).length > 0
      ? 'There is no such route: leave out the slash at the end of the path.'
      : 'There is no such route. /docs lists them: most begin with /api.';
  const refusal = (request: FastifyRequest, reply: FastifyReply): ServiceError => {
    const path = pathOf(request.url);
    const allowed = routes.methodsOf(path);
    if (allowed.length === 0) return new ServiceError('route_not_found', advice(path));
    reply.header('allow', allowed.join(', '));
    return new ServiceError('method_not_allowed', `This path takes ${allowed.join(', ')}.`);
  };
  // A scope of its own, so that its hook runs for unknown routes alone.
  app.register((unknown, _options, registered) => {
    unknown.addHook('onRequest', (request, reply, done) => done(refusal(request, reply)));
    unknown.setNotFoundHandler(async (request, reply) => {
      throw refusal(request, reply);
    });
    registered();
  });
}
