import { posix } from 'node:path';
import GithubSlugger from 'github-slugger';
import { Marked, type Token, type Tokens } from 'marked';
import { codeBlock } from '../html/highlight.js';
import { Html, html } from '../html/html.js';
import { type RepositoryPage, sitePathOf } from './repository-page.js';

/** A picture of the repository, as the site has it. */
export interface Picture {
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

/** What a page may refer to. */
export interface Surroundings {
  /** Whether the site has a page of this path. */
  readonly hasPage: (path: string) => boolean;
  /** A picture by its path from the root of the repository. */
  readonly picture: (file: string) => Picture | undefined;
}

/** A part of a page that begins with a heading. */
export interface Part {
  /** Empty for what stands before the first heading of the second level. */
  readonly anchor: string;
  readonly heading: string;
  readonly depth: number;
  /** Its text without markup, for the search. */
  readonly text: string;
}

export interface Rendered {
  readonly content: Html;
  readonly parts: readonly Part[];
}

/** A page of the repository as HTML. Links to files that the site has not become text. */
export function renderPage(page: RepositoryPage, surroundings: Surroundings): Rendered {
  const marked = new Marked({ renderer: rendererFor(page, surroundings) });
  const tokens = marked.lexer(page.text);
  const content = new Html(marked.parser(tokens));
  return { content, parts: partsOf(tokens) };
}

function rendererFor({ file }: RepositoryPage, surroundings: Surroundings) {
  const slugs = new GithubSlugger();
  const folder = posix.dirname(file);
  return {
    heading(this: Renderer, { tokens, depth, text }: Tokens.Heading) {
      return headingOf(depth, slugs.slug(anchorText(text)), new Html(this.parser.parseInline(tokens))).text;
    },
    code({ text, lang }: Tokens.Code) {
      return codeBlock(text, lang).text;
    },
    table(this: Renderer, { header, rows }: Tokens.Table) {
      return tableOf(header, rows, ({ tokens }) => new Html(this.parser.parseInline(tokens))).text;
    },
    image({ href, text }: Tokens.Image) {
      const picture = surroundings.picture(posix.join(folder, href));
      if (picture === undefined) return '';
      const { url, width, height } = picture;
      return html`<a class="picture" href="${url}"><img src="${url}" alt="${text}" width="${width}" height="${height}" loading="lazy"></a>`
        .text;
    },
    link(this: Renderer, { href, tokens }: Tokens.Link) {
      const text = new Html(this.parser.parseInline(tokens));
      const target = targetOf(href, folder, surroundings);
      return target === undefined ? text.text : html`<a href="${target}">${text}</a>`.text;
    },
  };
}

interface Renderer {
  readonly parser: { parseInline(tokens: Token[]): string };
}

/** A heading with a link to itself. */
export function headingOf(depth: number, anchor: string, text: Html): Html {
  if (depth === 1) return html`<h1 id="${anchor}">${text}</h1>\n`;
  const level = new Html(`h${depth}`);
  return html`<${level} id="${anchor}">${text}<a class="anchor" href="#${anchor}" aria-label="Link to this part">#</a></${level}>\n`;
}

/** A table that scrolls by itself where it is wider than the page. Tables without titles have no row of titles. */
function tableOf(
  header: readonly Tokens.TableCell[],
  rows: readonly (readonly Tokens.TableCell[])[],
  cell: (cell: Tokens.TableCell) => Html,
): Html {
  const head = header.some(({ text }) => text !== '')
    ? html`<thead><tr>${header.map((one) => html`<th scope="col">${cell(one)}</th>`)}</tr></thead>`
    : html``;
  const body = rows.map((row) => html`<tr>${row.map((one) => html`<td>${cell(one)}</td>`)}</tr>`);
  return html`<div class="table"><table>${head}<tbody>${body}</tbody></table></div>\n`;
}

/** Where a link leads on the site; undefined where its file is in the repository alone. */
function targetOf(href: string, folder: string, { hasPage, picture }: Surroundings): string | undefined {
  if (/^(https?:|#)/.test(href)) return href;
  const [file = '', anchor] = href.split('#');
  const inRepository = posix.join(folder, file);
  const path = sitePathOf(inRepository);
  if (path === undefined || !hasPage(path)) return picture(inRepository)?.url;
  return `/docs/${path}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** What GitHub makes the anchor of: the heading without its markup. */
const anchorText = (heading: string): string => heading.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');

/** The parts of a page, each with its text, as a search finds them. */
function partsOf(tokens: readonly Token[]): readonly Part[] {
  const slugs = new GithubSlugger();
  const parts: { anchor: string; heading: string; depth: number; texts: string[] }[] = [];
  for (const token of tokens) {
    if (token.type !== 'heading') {
      parts.at(-1)?.texts.push(textOf(token));
      continue;
    }
    const { text, depth } = token as Tokens.Heading;
    const anchor = slugs.slug(anchorText(text));
    parts.push({ anchor: depth === 1 ? '' : anchor, heading: textOf(token), depth, texts: [] });
  }
  return parts.map(({ texts, ...part }) => ({
    ...part,
    text: texts.join(' ').replaceAll(/\s+/g, ' ').trim(),
  }));
}

/** What tokens of many kinds may have. */
interface Loose {
  readonly tokens?: readonly Token[];
  readonly items?: readonly Token[];
  readonly header?: readonly Tokens.TableCell[];
  readonly rows?: readonly (readonly Tokens.TableCell[])[];
  readonly text?: string;
}

/** The text of a token without its markup. */
function textOf(token: Token): string {
  const { tokens = [], items = [], header = [], rows = [], text } = token as Loose;
  const cells = [...header, ...rows.flat()].flatMap((cell) => [...cell.tokens, SPACE]);
  const inner = [...tokens, ...items, ...cells];
  if (inner.length > 0) return inner.map(textOf).join(token.type === 'list' ? ' ' : '');
  return token.type === 'space' ? ' ' : (text ?? token.raw);
}

const SPACE: Token = { type: 'space', raw: ' ' };
