import type { PublicDeployment } from '@orrery/contracts';
import { type Html, html } from './html.js';

/** What is told of a deployment where a link to it is shown. */
export type Told = Pick<PublicDeployment, 'address' | 'name' | 'description' | 'world' | 'totals'>;

/** Characters that previews show of a title and of a description, and more than fits in a line of the picture. */
const TITLE = 90;
const DESCRIPTION = 200;
const LINE = 34;

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
    'og:image': `${page}/card.svg`,
    'og:image:type': 'image/svg+xml',
    'og:image:width': '1200',
    'og:image:height': '630',
    'og:image:alt': `The orbits of ${title}`,
  };
  return html`<title>${title} · Orrery</title><meta name="description" content="${description}"><link rel="canonical" href="${page}">${Object.entries(
    properties,
  ).map(
    ([name, value]) => html`<meta property="${name}" content="${value}">`,
  )}<meta name="twitter:card" content="summary">`;
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

/** The hue of a deployment, 0 to 359: `apps/play` has the same rule. */
export const hueOf = (address: string): number => Number.parseInt(address.slice(2, 8), 16) % 360;

/** A picture for previews: the name, and one orbit with its planet for each of some digits of the address. */
export function playerCard({ address, name, world, totals }: Told): string {
  const hue = hueOf(address);
  const orbits = [...address.slice(-5)].map((digit, at) => {
    const radius = 90 + at * 48;
    const angle = (Number.parseInt(digit, 16) / 16) * 2 * Math.PI + at;
    const [x, y] = [920 + radius * Math.cos(angle), 315 + radius * Math.sin(angle)].map(Math.round);
    return html`<circle cx="920" cy="315" r="${radius}" fill="none" stroke="hsl(${hue} 45% 70%)" stroke-opacity=".35" stroke-width="2"/><circle cx="${x}" cy="${y}" r="${9 + ((at * 5) % 9)}" fill="hsl(${(hue + at * 24) % 360} 75% 72%)"/>`;
  });
  const line = (y: number, size: number, text: string) =>
    html`<text x="72" y="${y}" font-size="${size}" fill="#fff" font-family="Georgia,serif">${text}</text>`;
  return html`<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630" viewBox="0 0 1200 630"><rect width="1200" height="630" fill="hsl(${hue} 45% 14%)"/>${orbits}<circle cx="920" cy="315" r="34" fill="hsl(${hue} 85% 78%)"/>${line(190, 34, cut(world?.name ?? 'Orrery', LINE))}${line(300, 64, cut(name, 17))}${line(400, 34, `${totals.instances} entities · ${totals.executions} executions`)}</svg>`
    .text;
}
