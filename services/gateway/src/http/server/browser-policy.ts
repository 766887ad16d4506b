import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pathOf } from '../request/request-path.js';
import type { RouteTable } from './route-table.js';

/** Answers are data for programs: a browser may not sniff, frame, cache or run them. */
const SECURITY_HEADERS = Object.entries({
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
});

const ALLOWED_HEADERS = [
  // Sent by the fetch of the x402 packages.
  'access-control-expose-headers',
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
 * Tells browsers what a page may do with an answer: security headers on every answer (a page of its own may set others
 * afterwards) and CORS. Any origin is allowed, without credentials: tokens and signatures are never sent by the browser
 * itself, so a foreign page can do nothing that its own server could not. Answers every OPTIONS of a known path.
 */
export function addBrowserPolicy(app: FastifyInstance, routes: RouteTable): void {
  app.addHook('onRequest', (request, reply, done) => {
    for (const [name, value] of SECURITY_HEADERS) reply.header(name, value);
    if (!OPEN_PATH.test(request.url)) return done();
    reply.header('access-control-allow-origin', '*');
    reply.header('access-control-expose-headers', EXPOSED_HEADERS);
    if (request.method !== 'OPTIONS' || !answerPreflight(request, reply, routes)) done();
  });
}

/** Whether the path is known and was answered. */
function answerPreflight(request: FastifyRequest, reply: FastifyReply, routes: RouteTable): boolean {
  const methods = routes.methodsOf(pathOf(request.url)).join(', ');
  if (methods === '') return false;
  void reply
    .code(204)
    .headers({
      allow: methods,
      'access-control-allow-methods': methods,
      'access-control-allow-headers': ALLOWED_HEADERS,
      'access-control-max-age': PREFLIGHT_SECONDS,
    })
    .send();
  return true;
}
