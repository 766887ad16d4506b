import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ServiceError } from '@orrery/contracts';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { FOREVER, wantsPage } from './static-files.js';

/**
 * The console is made of files of this origin; it talks to no other, and nobody may frame it. The nonce lets its editor make
 * style elements.
 */
const policy = (nonce = '') => ({
  'content-security-policy':
    `default-src 'none'; script-src 'self'; style-src 'self'${nonce && ` 'nonce-${nonce}'`}; connect-src 'self'; ` +
    "img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
});
/** What the build of the console writes where a page's nonce belongs. */
const NONCE = 'NONCE_OF_THE_PAGE';

/**
 * `/console/…`: the console's files. Every address below it that is no file is a page, which the console's own router
 * knows.
 */
export function addConsoleRoutes(app: FastifyInstance, folder: string): void {
  // The build is complete before the service starts: what is not there now never will be.
  const files = new Set(readdirSync(join(folder, 'assets')));
  const page = readFileSync(join(folder, 'index.html'), 'utf8');
  const sendPage = (reply: FastifyReply) => {
    const nonce = randomBytes(16).toString('base64');
    reply.headers({ ...policy(nonce), 'cache-control': 'no-store' }).type('text/html; charset=utf-8');
    return reply.send(page.replaceAll(NONCE, nonce));
  };
  app.get('/console', async (_request, reply) => reply.redirect('/console/'));
  app.get('/console/', async (_request, reply) => sendPage(reply));
  app.get<{ Params: { '*': string } }>('/console/assets/*', async ({ params }, reply) => {
    const name = params['*'];
    if (!files.has(name)) throw new ServiceError('route_not_found');
    return reply.headers({ ...policy(), ...FOREVER }).sendFile(`assets/${name}`, folder);
  });
  app.get('/console/*', async ({ headers }, reply) => {
    if (!wantsPage(headers.accept)) throw new ServiceError('route_not_found');
    return sendPage(reply);
  });
}

/** Leads a browser that asks for `/` to a page. Programs hear what they hear of any path that is not there. */
export function addEntrance(app: FastifyInstance, page: string): void {
  app.get('/', async ({ headers }, reply) => {
    if (!wantsPage(headers.accept)) throw new ServiceError('route_not_found');
    return reply.redirect(page);
  });
}
