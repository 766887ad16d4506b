import { createHash } from 'node:crypto';
import { ServiceError } from '@orrery/contracts';
import type { FastifyInstance } from 'fastify';
import { referencePage, STYLE } from './reference-page.js';

type Document = Record<string, unknown>;

/** `/openapi.json` and `/docs`, the reference page of the same document, where `/` leads a browser. */
export function addDocumentRoutes(app: FastifyInstance, makeDocument: () => Document): void {
  const document = lazily(makeDocument);
  const json = lazily(() => JSON.stringify(document()));
  const page = lazily(() => referencePage(document()));
  app.get('/openapi.json', async (_request, reply) =>
    reply.headers({ 'content-type': 'application/json; charset=utf-8', ...CACHED }).send(json()),
  );
  app.get('/docs', async (_request, reply) =>
    reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': PAGE_POLICY,
        ...CACHED,
      })
      .send(page()),
  );
  app.get('/', async ({ headers }, reply) => {
    // Programs hear what they hear of any path that is not there.
    if (!wantsPage(headers.accept)) throw new ServiceError('route_not_found');
    return reply.redirect('/docs');
  });
}

const wantsPage = (accept = ''): boolean => /(^|,)\s*text\/html\s*(;|,|$)/i.test(accept);

const CACHED = { 'cache-control': 'public, max-age=300' };

/** The page may use its own style and nothing else. */
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const PAGE_POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'`;

/** Makes a value at its first use and keeps it: writing the document takes longer than the rest of a start. */
function lazily<T extends object | string>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
