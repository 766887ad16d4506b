import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Marked, type Tokens } from 'marked';
import { Html, html, STYLE } from './html.js';

/** A page of the repository's `docs/`, as Markdown. */
export interface Guide {
  /** Its path below `docs/`, with slashes and without `.md`. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
}

/** The pages by their paths; none where the program was copied without the folder. */
export function readGuides(folder: string | undefined = findFolder()): ReadonlyMap<string, Guide> {
  if (folder === undefined) return new Map();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const guides = names
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => guideOf(name, readFileSync(join(folder, name), 'utf8')));
  return new Map(guides.map((guide) => [guide.path, guide]));
}

function guideOf(name: string, text: string): Guide {
  const path = name.replaceAll('\\', '/').slice(0, -'.md'.length);
  return { path, title: /^# (.+)$/m.exec(text)?.[1] ?? path, text };
}

/** `docs/` of the repository that this program is a part of, built or not. */
function findFolder(): string | undefined {
  for (let at = dirname(fileURLToPath(import.meta.url)); at !== dirname(at); at = dirname(at))
    if (existsSync(join(at, 'docs', 'concepts.md'))) return join(at, 'docs');
  return undefined;
}

/** A guide as a page that loads nothing and runs nothing. Links to files that are not served become text. */
export function guidePage(guide: Guide, isServed: (path: string) => boolean): string {
  const content = markdownFor(guide, isServed).parse(guide.text, { async: false });
  return html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
    <title>${guide.title}: Orrery</title><style>${new Html(STYLE)}</style>
    <nav><a href="/docs">Reference</a> · <a href="/docs/concepts">Concepts</a></nav>
    ${new Html(content)}</html>`.text;
}

function markdownFor({ path }: Guide, isServed: (path: string) => boolean): Marked {
  const folder = posix.dirname(path);
  return new Marked({
    renderer: {
      heading({ tokens, depth, text }) {
        return `<h${depth} id="${anchorOf(text)}">${this.parser.parseInline(tokens)}</h${depth}>\n`;
      },
      // The policy of these pages loads nothing.
      image: () => '',
      link({ href, tokens }: Tokens.Link) {
        const text = this.parser.parseInline(tokens);
        const target = targetOf(href, folder, isServed);
        return target === undefined ? text : html`<a href="${target}">${new Html(text)}</a>`.text;
      },
    },
  });
}

/** Where a link of a guide leads on this server; undefined where its file is in the repository alone. */
function targetOf(href: string, folder: string, isServed: (path: string) => boolean): string | undefined {
  if (/^(https?:|#)/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  const path = posix.join(folder, file).replace(/\.md$/, '');
  if (!file.endsWith('.md') || !isServed(path)) return undefined;
  return `/docs/${path}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** The anchor that GitHub gives a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(/\s/g, '-');
