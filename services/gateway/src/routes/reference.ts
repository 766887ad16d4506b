import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import { referencePage, STYLE } from '../reference/reference-page.js';
import { whenAsked } from './when-asked.js';

/** `/docs`: the reference page, allowed to use its own style and nothing else. */
export function addReferenceRoute(app: FastifyInstance, document: () => Record<string, unknown>): void {
  const page = whenAsked(() => referencePage(document()));
  const style = createHash('sha256').update(STYLE).digest('base64');
  const policy = `default-src 'none'; style-src 'sha256-${style}'; frame-ancestors 'none'; base-uri 'none'`;
  app.get('/docs', async (_request, reply) =>
    reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': policy,
        'cache-control': 'public, max-age=300',
      })
      .send(page()),
  );
}
