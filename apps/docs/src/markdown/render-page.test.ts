import { describe, expect, it } from 'vitest';
import { renderPage } from './render-page.js';
import { repositoryPage, sitePathOf } from './repository-page.js';

const PAGES = ['ai', 'start', 'adr', 'adr/0007-static-reference-page', 'sdk'];
const picture = (file: string) =>
  file === 'docs/images/live.png' ? { url: '/docs/assets/live-1.png', width: 10, height: 5 } : undefined;
const rendered = (text: string, file = 'docs/guides/one.md') =>
  renderPage(repositoryPage(file, text), { hasPage: (path) => PAGES.includes(path), picture });
const shown = (text: string, file?: string) => rendered(text, file).content.text;

describe('a page of the repository', () => {
  it('has its place on the site', () => {
    expect(
      ['README.md', 'examples', 'examples/', 'docs/ai.md', 'docs/adr/', 'packages/sdk/README.md'].map(
        sitePathOf,
      ),
    ).toEqual(['start', 'examples', 'examples', 'ai', 'adr', 'sdk']);
    expect(sitePathOf('services/gateway/src/app.ts')).toBeUndefined();
    expect(repositoryPage('docs/cli.md', '# The command `orrery`\n')).toMatchObject({
      path: 'cli',
      title: 'The command orrery',
    });
  });

  it('links to others where they are served; what is in the repository alone becomes text', () => {
    expect(shown('[ai](../ai.md#the-sampler)')).toContain('<a href="/docs/ai#the-sampler">ai</a>');
    expect(shown('[ai](docs/ai.md) [all](docs/adr/) [sdk](packages/sdk/README.md)', 'README.md')).toBe(
      '<p><a href="/docs/ai">ai</a> <a href="/docs/adr">all</a> <a href="/docs/sdk">sdk</a></p>\n',
    );
    expect(shown('[here](#there)')).toContain('<a href="#there">here</a>');
    expect(shown('[code](../../services/x.ts) [lost](nowhere.md)')).toContain('<p>code lost</p>');
    expect(shown('[RFC](https://www.rfc-editor.org/rfc/rfc9457)')).toContain(
      'href="https://www.rfc-editor.org/rfc/rfc9457"',
    );
  });

  it('has the anchors of GitHub, also where a heading comes twice', () => {
    const { content, parts } = rendered('# One\n\n## `a` & [b](x.md)!\n\ntext\n\n## Same\n\n## Same\n');
    expect(parts.map(({ anchor }) => anchor)).toEqual(['', 'a--b', 'same', 'same-1']);
    expect(content.text).toContain('<h2 id="a--b">');
    expect(content.text).toContain('<h2 id="same-1">Same<a class="anchor" href="#same-1"');
  });

  it('shows pictures with their size, and nothing of other origins', () => {
    expect(shown('![Live](../images/live.png)')).toContain(
      '<img src="/docs/assets/live-1.png" alt="Live" width="10" height="5" loading="lazy">',
    );
    expect(shown('![x](https://elsewhere.example/x.png)')).toBe('<p></p>\n');
  });

  it('colours code, and escapes what it does not know', () => {
    expect(shown('```json\n{ "a": 1 }\n```')).toContain('<span class="hljs-attr">&quot;a&quot;</span>');
    expect(shown('```text\n<b>\n```')).toContain('<pre><code>&lt;b&gt;</code></pre>');
  });

  it('has parts with their text for the search', () => {
    const { parts } = rendered(
      '# One\n\nA *first* line.\n\n## Two\n\n- a `b`\n- c\n\n| k | v |\n| --- | --- |\n| x | y |\n',
    );
    expect(parts).toEqual([
      { anchor: '', heading: 'One', depth: 1, text: 'A first line.' },
      { anchor: 'two', heading: 'Two', depth: 2, text: 'a b c k v x y' },
    ]);
  });
});
