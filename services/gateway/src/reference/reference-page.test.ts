import { httpOperations } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../openapi/document.js';
import { referencePage } from './reference-page.js';

const page = referencePage(openApiDocument(httpOperations));

describe('the reference page', () => {
  it('has a section for every operation', () => {
    for (const { http } of httpOperations)
      expect(page).toContain(`<code>${http.path.replaceAll(/:(\w+)/g, '{$1}')}</code>`);
  });

  it('loads nothing from elsewhere and runs nothing', () => {
    expect(page).not.toMatch(/<script|<link|<img|src=|https?:\/\/|@import|url\(/);
  });

  it('has a target for every link inside it', () => {
    const ids = new Set([...page.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));
    for (const [, target] of page.matchAll(/href="#([^"]+)"/g)) expect(ids).toContain(target);
  });
});
