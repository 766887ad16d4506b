import type { FastifyInstance } from 'fastify';
import { pathOf } from '../http/request-path.js';
import type { RouteTable } from '../http/route-table.js';

const ALLOWED_HEADERS = [
  'authorization',
  'content-type',
  'idempotency-key',
  'if-match',
  'last-event-id',
  'payment-signature',
  'prefer',
  'x-payment',
  'x-request-id',
].join(', ');

const EXPOSED_HEADERS = [
  'etag',
  'location',
  'payment-required',
  'payment-response',
  'preference-applied',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'x-payment-response',
  'x-request-id',
].join(', ');

/** Of a request target, so a query may follow. */
const OPEN_PATH = /^\/(?:(?:api|app|auth)\/|openapi\.json(?:$|[?;#]))/;
/** Browsers keep a preflight's answer at most two hours. */
const PREFLIGHT_SECONDS = 7200;

/**
 * Any origin, without credentials (decisions §2): bearer tokens and signatures are not ambient, so a foreign page can
 * do nothing that its own server could not. Answers every OPTIONS of a known path.
 */
export function addCors(app: FastifyInstance, routes: RouteTable): void {
  app.addHook('onRequest', (request, reply, done) => {
    if (!OPEN_PATH.test(request.url)) return done();
    reply.header('access-control-allow-origin', '*');
    reply.header('access-control-expose-headers', EXPOSED_HEADERS);
    if (request.method !== 'OPTIONS') return done();
    const methods = routes.methodsOf(pathOf(request.url)).join(', ');
    if (methods === '') return done();
    void reply
      .code(204)
      .headers({
        allow: methods,
        'access-control-allow-methods': methods,
        'access-control-allow-headers': ALLOWED_HEADERS,
        'access-control-max-age': PREFLIGHT_SECONDS,
      })
      .send();
  });
}
