import { join } from 'node:path';
import { makeSite, readSources } from '@orrery/docs/site';
import { describe, expect, it } from 'vitest';

const assets = {
  style: '/docs/assets/s.css',
  head: '/docs/assets/h.js',
  script: '/docs/assets/p.js',
  icon: '/docs/assets/i.svg',
};
const site = makeSite(readSources(join(import.meta.dirname, '../..')), assets);
const pages = new Map(
  [...site.files]
    .filter(([file]) => file.endsWith('.html'))
    .map(([file, text]) => [
      file === 'index.html' ? '/docs' : `/docs/${file.slice(0, -'.html'.length)}`,
      String(text),
    ]),
);
const idsOf = new Map(
  [...pages].map(([url, text]) => [url, [...text.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)]),
);

/** Addresses of the gateway beside the site. */
const BESIDE = ['/', '/openapi.json', '/llms.txt', ...Object.values(assets)];

const isThere = (page: string, href: string): boolean => {
  if (/^https?:\/\//.test(href) || BESIDE.includes(href)) return true;
  const [path = '', anchor] = href.split('#');
  if (path.startsWith('/docs/assets/')) return site.files.has(path.slice('/docs/'.length));
  const ids = idsOf.get(path === '' ? page : path);
  return ids !== undefined && (anchor === undefined || ids.includes(anchor));
};

describe('the pages under /docs', () => {
  it('are the documents and the reference', () => {
    expect(pages.size).toBeGreaterThan(90);
    for (const url of [
      '/docs',
      '/docs/start',
      '/docs/guides/every-night',
      '/docs/reference/worlds',
      '/docs/adr',
    ])
      expect([...pages.keys()]).toContain(url);
  });

  it('each stand in a section of the side bar: a new one gets its line in apps/docs/src/site/sections.ts', () => {
    expect(site.homeless).toEqual([]);
    expect(site.sections.map(({ title }) => title)).toEqual([
      'Start',
      'Concepts',
      'Guides',
      'API reference',
      'Operations',
      'Decisions',
    ]);
  });

  it('have links that lead to pages and to anchors that are there', () => {
    const dead = [...pages].flatMap(([page, text]) =>
      [...text.matchAll(/ (?:href|src|data-search)="([^"]*)"/g)]
        .map(([, href = '']) => href)
        .filter((href) => !isThere(page, href))
        .map((href) => `${page}: ${href}`),
    );
    expect(dead).toEqual([]);
  });

  it('have no anchor twice', () => {
    const twice = [...idsOf].flatMap(([page, ids]) =>
      ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `${page}: ${id}`),
    );
    expect(twice).toEqual([]);
  });

  it('have nothing inline that the policy would refuse, and load nothing from elsewhere', () => {
    for (const [page, text] of pages) {
      expect(
        text.match(/<style|<script(?! src="| type="module" src=")| style="|<[^>]* on\w+="/g),
        page,
      ).toBeNull();
      expect(
        text.match(/<(?:script|img|link|iframe)[^>]*(?:src|href)="(?!\/docs\/)[^"]*"/g),
        page,
      ).toBeNull();
    }
  });

  it('have a place for each anchor that /docs had when it was the whole reference', () => {
    const ids = idsOf.get('/docs') ?? [];
    for (const anchor of [
      'start',
      'guides',
      'worldsCreate',
      'deploymentsExecute',
      'entity-schemas',
      'reading-without-a-key',
    ])
      expect(ids).toContain(anchor);
    expect(idsOf.get('/docs/reference/records')).toContain('schema-World');
    expect(idsOf.get('/docs/reference/errors')).toContain('problem-401');
  });
});
