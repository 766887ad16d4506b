import { type Html, html } from '../html/html.js';
import { type Page, urlOf } from './page.js';

/** A section of the side bar. */
export interface Section {
  readonly title: string;
  readonly pages: readonly Page[];
}

/** The addresses of the files that every page loads. */
export interface Assets {
  readonly style: string;
  /** Runs before the page is seen: the chosen colours. */
  readonly head: string;
  readonly script: string;
  readonly icon: string;
  /** Loaded by the search. */
  readonly search: string;
}

export interface Frame {
  readonly sections: readonly Section[];
  readonly assets: Assets;
}

/** A whole page: everything but the code that is its own is in files, as the policy demands. */
export function framed(page: Page, { sections, assets }: Frame): string {
  const order = sections.flatMap(({ pages }) => pages);
  const at = order.indexOf(page);
  const section = sections.find(({ pages }) => pages.includes(page));
  const title = page.path === '' ? 'Orrery documentation' : `${page.title}: Orrery`;
  const text = html`<!doctype html>
<html lang="en" data-search="${assets.search}"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">
<title>${title}</title><meta name="description" content="${page.description}">
<link rel="icon" type="image/svg+xml" href="${assets.icon}"><link rel="stylesheet" href="${assets.style}">
<script src="${assets.head}"></script><script type="module" src="${assets.script}"></script></head>
<body class="${page.layout}"><a class="skip" href="#content">Skip to the content</a>${top(assets)}
<div class="frame">${sideBar(sections, page)}
<main id="content" tabindex="-1">${section && page.path !== '' ? html`<p class="crumb">${section.title}</p>` : ''}
<article>${page.content}</article>${at < 0 ? '' : pager(order[at - 1], order[at + 1])}</main>
${page.layout === 'text' ? outline(page) : ''}</div></body></html>`;
  return text.text;
}

const top = ({ icon }: Assets): Html => html`<header class="top">
<a class="brand" href="/docs"><img src="${icon}" alt="" width="26" height="26">Orrery <span>docs</span></a>
<button type="button" class="find" data-open-search hidden>Search<kbd>/</kbd></button>
<nav aria-label="This server"><a href="/">Console</a><a href="/openapi.json">OpenAPI</a></nav>
<label class="theme" hidden><span class="hidden">Colours</span><select data-theme-switch>
<option value="system">System</option><option value="light">Light</option><option value="dark">Dark</option></select></label>
<a class="menu" href="#pages">Menu</a></header>`;

const sideBar = (
  sections: readonly Section[],
  page: Page,
): Html => html`<nav id="pages" class="side" aria-label="Pages">
${sections.map((section) => sideSection(section, page))}<a class="close" href="#content">Close</a></nav>`;

function sideSection({ title, pages }: Section, page: Page): Html {
  const items = pages.map(
    (one) => html`<li>${sideLink(one, page)}${one === page ? partsBelow(page) : ''}</li>`,
  );
  const isOpen = pages.includes(page) || page.layout === 'home';
  return html`<details${isOpen ? ' open' : ''}><summary>${title}</summary><ul>${items}</ul></details>`;
}

const sideLink = (one: Page, page: Page): Html =>
  html`<a href="${urlOf(one.path)}"${one === page ? html` aria-current="page"` : ''}>${one.label ?? one.title}</a>`;

const partsBelow = ({ layout, parts }: Page): Html =>
  layout === 'reference' ? html`<ul>${parts.filter(({ depth }) => depth === 2).map(partLink)}</ul>` : html``;

const partLink = ({ anchor, heading }: Page['parts'][number]): Html =>
  html`<li><a href="#${anchor}">${heading}</a></li>`;

/** Links to the parts of a page, where there are several. */
function outline({ parts }: Page): Html {
  const shown = parts.filter(({ depth }) => depth === 2);
  if (shown.length < 2) return html``;
  return html`<nav class="outline" aria-label="On this page"><p>On this page</p><ul>${shown.map(partLink)}</ul></nav>`;
}

const pager = (before: Page | undefined, after: Page | undefined): Html =>
  html`<nav class="pager" aria-label="Pages before and after">${pagerLink(before, 'Previous', 'prev')}${pagerLink(after, 'Next', 'next')}</nav>`;

const pagerLink = (page: Page | undefined, word: string, rel: string): Html =>
  page === undefined
    ? html``
    : html`<a class="${rel}" rel="${rel}" href="${urlOf(page.path)}"><span>${word}</span>${page.label ?? page.title}</a>`;
