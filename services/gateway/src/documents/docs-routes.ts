import { readdirSync } from 'node:fs';
import { ServiceError } from '@orrery/contracts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { FOREVER } from './static-files.js';

/** The pages load files of this origin, and their forms send requests to it; nothing inline, and nobody may frame them. */
const POLICY = {
  'content-security-policy':
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
    "frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};
/** Asked for again each time: a page names the files of its own build. */
const AGAIN = { 'cache-control': 'no-cache' };

/** `/docs/…` and `/llms.txt`: the files that `apps/docs` was built to. */
export function addDocsRoutes(app: FastifyInstance, folder: string): void {
  // The build is complete before the service starts: what is not there now never will be.
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = new Set(names.map((name) => name.replaceAll('\\', '/')));
  const send = (reply: FastifyReply, name: string, headers: object) => {
    if (!files.has(name)) throw new ServiceError('route_not_found', 'There is no such page. See /docs.');
    return reply.headers({ ...POLICY, ...headers }).sendFile(name, folder);
  };
  app.get('/docs', async (_request, reply) => send(reply, 'index.html', AGAIN));
  app.get('/docs/', async (_request, reply) => reply.redirect('/docs', 308));
  app.get<{ Params: { '*': string } }>('/docs/assets/*', async ({ params }, reply) =>
    send(reply, `assets/${params['*']}`, FOREVER),
  );
  app.get<{ Params: { '*': string } }>('/docs/*', async ({ params }, reply) =>
    send(reply, `${params['*']}.html`, AGAIN),
  );
  app.get('/llms.txt', async (_request, reply) => send(reply, 'llms.txt', AGAIN));
}

/** In the place of the pages where they were not built. */
export function addAbsentDocs(app: FastifyInstance): void {
  app.get('/docs', async () => {
    throw new ServiceError(
      'route_not_found',
      'The pages were not built: run `npm run build`, and start again.',
    );
  });
}
