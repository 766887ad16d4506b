import { describe, expect, it } from 'vitest';
import { guidePage, readGuides } from './guides.js';

const guides = readGuides();
const page = (text: string, path = 'guides/one') =>
  guidePage({ path, title: 'One', text }, (other) => guides.has(other));

describe('the guides', () => {
  it('are the pages of docs/, with their titles', () => {
    expect(guides.get('schedules')?.title).toBe('Schedules');
    expect(guides.get('adr/0011-openapi-writer')?.title).toContain('OpenAPI');
  });

  it('link to one another where they are served, and elsewhere only with an address', () => {
    expect(page('[ai](../ai.md#the-sampler)')).toContain('<a href="/docs/ai#the-sampler">ai</a>');
    expect(page('[here](#there)')).toContain('<a href="#there">here</a>');
    expect(page('[code](../../services/x.ts) [lost](nowhere.md)')).toContain('<p>code lost</p>');
    expect(page('[RFC](https://www.rfc-editor.org/rfc/rfc9457)')).toContain(
      'href="https://www.rfc-editor.org/rfc/rfc9457"',
    );
  });

  it('load nothing and run nothing', () => {
    for (const guide of guides.values())
      expect(guidePage(guide, () => true)).not.toMatch(/<script|<link|<img|<iframe| style=| on\w+=/);
  });

  it('have a heading for every link between them', () => {
    const pages = new Map(
      [...guides].map(([path, guide]) => [path, guidePage(guide, (one) => guides.has(one))]),
    );
    const broken = [...pages].flatMap(([path, text]) =>
      [...text.matchAll(/href="(?:\/docs\/([^"#]+))?#([^"]+)"/g)]
        .filter(([, to = path, anchor]) => !pages.get(to)?.includes(` id="${anchor}"`))
        .map(([link]) => `${path}: ${link}`),
    );
    expect(broken).toEqual([]);
  });
});
