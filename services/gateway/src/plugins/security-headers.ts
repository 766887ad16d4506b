import type { FastifyInstance } from 'fastify';

/** Answers are data for programs: nothing may sniff, frame, cache or run them. */
const HEADERS = Object.entries({
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
});

/** Sets the security headers on every answer; a page of its own may set others afterwards. */
export function addSecurityHeaders(app: FastifyInstance): void {
  app.addHook('onRequest', (_request, reply, done) => {
    for (const [name, value] of HEADERS) reply.header(name, value);
    done();
  });
}
