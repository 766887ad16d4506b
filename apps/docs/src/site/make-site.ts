import { createHash } from 'node:crypto';
import { posix } from 'node:path';
import { html } from '../html/html.js';
import { type Assets, framed, type Section } from '../layout/frame.js';
import { type Page, urlOf } from '../layout/page.js';
import { type Picture, renderPage } from '../markdown/render-page.js';
import type { RepositoryPage } from '../markdown/repository-page.js';
import { errorsPage } from '../reference/errors-page.js';
import { overviewPage } from '../reference/overview-page.js';
import { recordsPage } from '../reference/records-page.js';
import { resourcePages } from '../reference/resource-page.js';
import { entriesOf } from '../search/entries.js';
import { arranged, homeless } from './arrange.js';
import { homePage } from './home-page.js';
import { llmsText } from './llms.js';
import type { Sources } from './read-sources.js';

export interface Site {
  /** By their paths below the folder of the site: `concepts.html`, `assets/live-1a2b3c4d.png`. */
  readonly files: ReadonlyMap<string, string | Buffer>;
  readonly sections: readonly Section[];
  /** Paths of pages that no section has. */
  readonly homeless: readonly string[];
}

/** All files of the site but scripts and styles, whose addresses are given. */
export function makeSite(sources: Sources, assets: Omit<Assets, 'search'>): Site {
  const pictures = picturesOf(sources);
  const pages = pagesOf(sources, (file) => pictures.get(file)?.picture);
  const sections = arranged(pages);
  const outside = homeless(pages, sections);
  const all = [
    ...sections.flatMap((section) => section.pages),
    ...pages.filter(({ path }) => outside.includes(path)),
  ];
  const search = JSON.stringify(entriesOf(all));
  const searchFile = namedByContent('search.json', search);
  const frame = { sections, assets: { ...assets, search: `/docs/${searchFile}` } };
  const files = new Map<string, string | Buffer>([
    ...all.map((page) => [fileOf(page.path), framed(page, frame)] as const),
    ...[...pictures.values()].map(({ file, content }) => [file, content] as const),
    [searchFile, search],
    ['llms.txt', llmsText(all)],
  ]);
  return { files, sections, homeless: outside };
}

/** The file of a page. */
export const fileOf = (path: string): string => `${path === '' ? 'index' : path}.html`;

/** `assets/search-1a2b3c4d.json`: kept by browsers for ever. */
export function namedByContent(name: string, content: string | Buffer): string {
  const { name: stem, ext } = posix.parse(name);
  return `assets/${stem}-${createHash('sha256').update(content).digest('hex').slice(0, 8)}${ext}`;
}

function pagesOf({ pages, document }: Sources, picture: (file: string) => Picture | undefined): Page[] {
  const decisions = pages.filter(({ path }) => path.startsWith('adr/'));
  const made = [
    overviewPage(document),
    ...resourcePages(document),
    recordsPage(document),
    errorsPage(document),
    decisionsPage(decisions),
  ];
  const paths = new Set([...pages, ...made].map(({ path }) => path));
  const surroundings = { hasPage: (path: string) => paths.has(path), picture };
  const read = pages.map((page): Page => {
    const { content, parts } = renderPage(page, surroundings);
    const { path, title } = page;
    return { path, title, description: sentence(parts[0]?.text ?? ''), content, parts, layout: 'text' };
  });
  const guides = read.filter(({ path }) => path.startsWith('guides/'));
  return [homePage(document, guides), ...read, ...made];
}

function decisionsPage(decisions: readonly RepositoryPage[]): Page {
  const items = decisions.map(({ path, title }) => html`<li><a href="${urlOf(path)}">${title}</a></li>`);
  return {
    path: 'adr',
    title: 'Decisions',
    description:
      'Why Orrery is as it is: each decision with its situation, its consequences and what was left.',
    content: html`<h1 id="decisions">Decisions</h1><p class="lead">Why Orrery is as it is: each decision with its situation,
its consequences, and what it was taken instead of.</p><ul class="decisions">${items}</ul>`,
    parts: [],
    layout: 'text',
  };
}

/** The first sentence of a text, bounded. */
function sentence(text: string): string {
  const [first = ''] = /^.*?[.:](?=\s|$)/.exec(text) ?? [text];
  return first.length > LONGEST ? `${first.slice(0, LONGEST)}…` : first.replace(/:$/, '.');
}

const LONGEST = 160;

interface StoredPicture {
  readonly file: string;
  readonly content: Buffer;
  readonly picture: Picture;
}

function picturesOf({ pictures }: Sources): ReadonlyMap<string, StoredPicture> {
  return new Map(
    [...pictures].map(([source, content]) => {
      const file = namedByContent(posix.basename(source), content);
      return [source, { file, content, picture: { url: `/docs/${file}`, ...sizeOf(content) } }];
    }),
  );
}

/** Where a PNG has its size. */
const sizeOf = (png: Buffer): { width: number; height: number } => ({
  width: png.readUInt32BE(16),
  height: png.readUInt32BE(20),
});
