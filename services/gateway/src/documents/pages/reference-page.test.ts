import { httpOperations } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../openapi/document.js';
import { referencePage } from './reference-page.js';

const guides = [
  { path: 'concepts', title: 'Concepts', text: '' },
  { path: 'adr/1', title: 'A decision', text: '' },
];
const page = referencePage(openApiDocument(httpOperations), guides);

describe('the reference page', () => {
  it('has a section for every operation', () => {
    for (const { http } of httpOperations)
      expect(page).toContain(`<code>${http.path.replaceAll(/:(\w+)/g, '{$1}')}</code>`);
  });

  it('loads nothing from elsewhere and runs nothing', () => {
    // An address in an example is text.
    expect(page.replaceAll('https://scores.example', '')).not.toMatch(
      /<script|<link|<img|src=|https?:\/\/|@import|url\(/,
    );
  });

  it('says how to authenticate, how an error looks, and where the guides are', () => {
    expect(page).toContain('-H &quot;Authorization: Bearer');
    expect(page).toContain('&quot;pointer&quot;: &quot;/tags&quot;');
    expect(page).toContain('<a href="/docs/concepts">Concepts</a>');
    expect(page).not.toContain('A decision');
  });

  it('has a target for every link inside it', () => {
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
  });
});
