import type { PublicDeployment } from '@orrery/contracts';
import { type Html, html } from './html.js';

/** What is told of a deployment where a link to it is shown. */
export type Told = Pick<PublicDeployment, 'address' | 'name' | 'description' | 'world' | 'totals'>;

/** Characters that previews show of a title and of a description. */
const TITLE = 90;
const DESCRIPTION = 200;

/**
 * Title and metadata of the page of a deployment; of one that is not there, a title that tells nothing. Addresses are below
 * `publicUrl`.
 */
export function playerHead(deployment: Told | undefined, publicUrl: string): Html {
  if (deployment === undefined)
    return html`<title>Play · Orrery</title><meta name="robots" content="noindex">`;
  const { address } = deployment;
  const title = cut(named(deployment), TITLE);
  const description = cut(described(deployment), DESCRIPTION);
  const page = new URL(`/play/${address}`, publicUrl).href;
  const properties = {
    'og:type': 'website',
    'og:site_name': 'Orrery',
    'og:title': title,
    'og:description': description,
    'og:url': page,
    'og:image': new URL('/play/card.png', publicUrl).href,
    'og:image:type': 'image/png',
    'og:image:width': '1200',
    'og:image:height': '630',
    'og:image:alt': 'Planets on their orbits',
  };
  return html`<title>${title} · Orrery</title><meta name="description" content="${description}"><link rel="canonical" href="${page}">${Object.entries(
    properties,
  ).map(
    ([name, value]) => html`<meta property="${name}" content="${value}">`,
  )}<meta name="twitter:card" content="summary_large_image">`;
}

/** The title of a page for who reads it without scripts, or before they run. */
export const playerHeading = (deployment: Told | undefined): Html =>
  deployment === undefined
    ? html`<h1>No world is open here</h1>`
    : html`<h1 dir="auto">${deployment.name}</h1>`;

const named = ({ name, world }: Told): string =>
  world === null || world.name === name ? name : `${name} · ${world.name}`;

const described = ({ description, world, totals }: Told): string =>
  description ||
  world?.description ||
  `A living world of ${totals.instances} entities, after ${totals.executions} executions. Watch it, play in it, check its history.`;

/**
 * At most so many characters, on one line. Controls, which XML does not allow, and the marks that turn the direction of
 * what follows are left out.
 */
export function cut(text: string, most: number): string {
  const line = text
    .replaceAll(/[\p{Cc}\p{Cs}\u2028\u2029\ufffe\uffff\u202a-\u202e\u2066-\u2069]+/gu, ' ')
    .trim();
  const characters = [...line.slice(0, most * 4)];
  return characters.length <= most && line.length <= most * 4
    ? line
    : `${characters.slice(0, most - 1).join('')}…`;
}
