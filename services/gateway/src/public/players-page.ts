import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson, readingContract, ServiceError } from '@orrery/contracts';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { RoutedRpc } from '../core/requests/operation.js';
import { playerHead, playerHeading, type Told } from '../documents/metadata/player-head.js';
import { FOREVER } from '../documents/static-files.js';
import { limitBy, type RateContext } from '../http/rates/limiter.js';
import { callOf } from '../http/routes/operation-route.js';
import { createReading, type ReadingRouteContext } from './reading-route.js';

export interface PlayersPageContext extends ReadingRouteContext, RateContext {
  /** The address under which clients reach the service. */
  publicUrl: string;
}

/**
 * What an owner or a stranger has written is text here and never markup: the browser holds the page's scripts to that, too
 * (Trusted Types). The page talks to its own origin alone.
 */
const policy = (framedBy: string) =>
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; " +
  `base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'; frame-ancestors ${framedBy}`;
const PAGE = {
  'content-security-policy': policy("'none'"),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-cache',
};
/** Any page may frame this one: it has no wallet, and nothing to press that does anything. */
const EMBEDDED = {
  ...PAGE,
  'content-security-policy': policy('*'),
  'cross-origin-resource-policy': 'cross-origin',
};
const PICTURE = {
  'content-security-policy': "default-src 'none'; sandbox; frame-ancestors 'none'",
  'cross-origin-resource-policy': 'cross-origin',
  'cache-control': 'public, max-age=86400',
};
/** What the build of `apps/play` has in place of a deployment's metadata and heading. */
const HEAD = '<title>HEAD_OF_THE_PAGE</title>';
const HEADING = '<h1>HEADING_OF_THE_PAGE</h1>';

interface At {
  Params: { address: string };
}

/** `/play/:address`: the page for players, `…/embed` the same for other pages to frame. */
export function addPlayersPage(app: FastifyInstance, folder: string, context: PlayersPageContext): void {
  const template = readFileSync(join(folder, 'index.html'), 'utf8');
  const onRequest = limitBy('reading', context);
  const find = createFind(context);
  const send = (reply: FastifyReply, found: Found, headers: object) =>
    reply
      .code(found.status)
      .headers({ ...headers })
      .type('text/html; charset=utf-8')
      .send(pageOf(template, found.deployment, context.publicUrl));
  addAssets(app, folder);
  for (const url of ['/play', '/play/'])
    app.get(url, async (_request, reply) => send(reply, { status: 200, deployment: undefined }, PAGE));
  app.get<At>('/play/:address', { onRequest }, async (request, reply) =>
    send(reply, await find(request, reply), PAGE),
  );
  app.get<At>('/play/:address/embed', { onRequest }, async (request, reply) => {
    reply.removeHeader('x-frame-options');
    return send(reply, await find(request, reply), EMBEDDED);
  });
}

/** The files of the page, which are named by their contents, and the picture of previews. */
function addAssets(app: FastifyInstance, folder: string): void {
  // The build is complete before the service starts: what is not there now never will be.
  const files = new Set(readdirSync(join(folder, 'assets')));
  app.get<{ Params: { '*': string } }>('/play/assets/*', async ({ params }, reply) => {
    const name = params['*'];
    if (!files.has(name)) throw new ServiceError('route_not_found');
    return reply.headers({ ...PAGE, ...FOREVER }).sendFile(`assets/${name}`, folder);
  });
  app.get('/play/card.png', async (_request, reply) => reply.headers(PICTURE).sendFile('card.png', folder));
}

/** Replaced by functions: `$&` in a name would be a pattern in a text. */
const pageOf = (template: string, deployment: Told | undefined, publicUrl: string): string =>
  template
    .replace(HEAD, () => playerHead(deployment, publicUrl).text)
    .replace(HEADING, () => playerHeading(deployment).text);

interface Found {
  readonly status: number;
  readonly deployment: Told | undefined;
}

/** No event has this name: contracts may be large, and metadata needs none. */
const NO_EVENT = '';

/** The deployment that a page is about, as strangers are told of it. The page itself says what is wrong where there is none. */
function createFind(context: PlayersPageContext) {
  const read = createReading(readingContract.rpcs['public.get'] as RoutedRpc, context);
  return async (request: FastifyRequest<At>, reply: FastifyReply): Promise<Found> => {
    try {
      const published = await context.findPublished(request.params.address);
      const asked = { params: { address: published.address }, query: { event: NO_EVENT } };
      const { text } = await read(asked, published, callOf(request, reply, context));
      return { status: 200, deployment: (parseJson(text) as unknown as { data: Told }).data };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { status: error.code === 'deployment_not_found' ? 404 : 503, deployment: undefined };
    }
  };
}
