import { createHash } from 'node:crypto';
import { ServiceError } from '@orrery/contracts';
import type { FastifyInstance } from 'fastify';
import { guidePage, readGuides } from './pages/guides.js';
import { STYLE } from './pages/html.js';
import { llmsText } from './pages/llms.js';
import { referencePage } from './pages/reference-page.js';

type Document = Record<string, unknown>;

/** `/openapi.json`, `/docs`, the reference page of the same document, `/docs/…`, the guides, and `/llms.txt`, for agents. */
export function addDocumentRoutes(app: FastifyInstance, makeDocument: () => Document): void {
  const document = lazily(makeDocument);
  const guides = lazily(() => readGuides());
  const json = lazily(() => JSON.stringify(document()));
  const page = lazily(() => referencePage(document(), [...guides().values()]));
  app.get('/openapi.json', async (_request, reply) =>
    reply.headers({ 'content-type': 'application/json; charset=utf-8', ...CACHED }).send(json()),
  );
  const llms = lazily(() => llmsText(guides()));
  app.get('/llms.txt', async (_request, reply) =>
    reply.headers({ 'content-type': 'text/plain; charset=utf-8', ...CACHED }).send(llms()),
  );
  app.get('/docs', async (_request, reply) => reply.headers(PAGE).send(page()));
  app.get<{ Params: { '*': string } }>('/docs/*', async ({ params }, reply) => {
    const guide = guides().get(params['*']);
    if (guide === undefined) throw new ServiceError('route_not_found', 'There is no such page. See /docs.');
    return reply.headers(PAGE).send(guidePage(guide, (path) => guides().has(path)));
  });
}

const CACHED = { 'cache-control': 'public, max-age=300' };

/** A page may use its own style and nothing else. */
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');
const PAGE = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; frame-ancestors 'none'; base-uri 'none'`,
  ...CACHED,
};

/** Makes a value at its first use and keeps it: writing the document takes longer than the rest of a start. */
function lazily<T extends object | string>(make: () => T): () => T {
  let made: T | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
