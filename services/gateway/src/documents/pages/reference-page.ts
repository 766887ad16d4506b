import { asServiceError, catalogContract, parseRequest } from '@orrery/contracts';
import { problemOf } from '../../core/problems/problem.js';
import type { JsonSchema } from '../openapi/schema-book.js';
import type { Guide } from './guides.js';
import { Html, html, STYLE } from './html.js';
import {
  type DescribedOperation,
  memberRows,
  operationSection,
  type PlacedOperation,
  prose,
  schemaText,
} from './operation-section.js';

interface Document {
  info: { title: string; version: string; description: string };
  tags: { name: string }[];
  paths: Record<string, Record<string, DescribedOperation>>;
  components: {
    schemas: Record<string, JsonSchema>;
    responses: Record<string, { description: string }>;
  };
}

/**
 * The reference of an OpenAPI document, with links to the guides, as one page that loads nothing, runs nothing and works
 * without a network.
 */
export function referencePage(openApi: Record<string, unknown>, guides: readonly Guide[]): string {
  const { info, tags, paths, components } = openApi as unknown as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): PlacedOperation => ({ method, path, operation })),
  );
  const schemas = Object.entries(components.schemas);
  return html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
    <title>${info.title} ${info.version}: reference</title><style>${raw(STYLE)}</style>
    <h1>${info.title} ${info.version}</h1><p>${info.description}
    The same for programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1), and <a href="/llms.txt">llms.txt</a> for agents.</p>
    ${guideList(guides)}${howToCall()}
    <nav>${tags.map(({ name }) => html`<a href="#${slug(name)}">${name}</a> · `)}<a href="#schemas">Records</a></nav>
    ${tags.map(({ name }) => tagSection(name, operations))}
    <h2>Answers that every operation may give</h2><ul>${Object.entries(components.responses).map(sharedItem)}</ul>
    <h2 id="schemas">Records</h2>${schemas.map(schemaSection)}</html>`.text;
}

/** The decisions are for those who change Orrery; they are served, but not listed. */
function guideList(guides: readonly Guide[]): Html {
  const [first, others] = [isFirst, (guide: Guide) => !isFirst(guide) && !guide.path.startsWith('adr/')].map(
    (isListed) =>
      guides.filter(isListed).map(({ path, title }) => html`<li><a href="/docs/${path}">${title}</a>`),
  );
  if (first?.length === 0) return html``;
  return html`<h2 id="guides">Guides</h2><ul>${first}</ul>
    <details><summary>All other pages</summary><ul>${others}</ul></details>`;
}

const isFirst = ({ path }: Guide): boolean =>
  path.startsWith('guides/') || ['concepts', 'subscribing'].includes(path);

const raw = (text: string): Html => new Html(text);
const slug = (name: string): string => name.toLowerCase().replaceAll(' ', '-');

function tagSection(tag: string, operations: PlacedOperation[]): Html {
  const own = operations.filter(({ operation }) => operation.tags.includes(tag));
  return html`<h2 id="${slug(tag)}">${tag}</h2>${own.map(operationSection)}`;
}

const sharedItem = ([name, { description }]: [string, { description: string }]): Html =>
  html`<li id="${name.replace('Problem', 'problem-')}">${name.replace('Problem', '')} ${prose(description)}`;

function schemaSection([name, schema]: [string, JsonSchema]): Html {
  const rows = memberRows(schema);
  const content = rows.length === 0 ? html`<p>${schemaText(schema)}</p>` : html`<table>${rows}</table>`;
  return html`<h3 id="schema-${name}">${name}</h3><p>${prose(schema['description'])}</p>${content}`;
}

/** What a first request needs: the key, one command, and the forms of an answer and of an error. */
export function howToCall(): Html {
  return html`<h2 id="start">How to call</h2>
    <p>A request under <code>/api</code> has an API key in the header <code>Authorization: Bearer …</code>. A server that
    was started with <code>npm start</code> has written its first key to <code>.orrery/api-key</code> and its address to
    <code>.orrery/url</code>. Further keys come
    from <a href="#keysCreate"><code>POST /api/keys</code></a>. What wallets send to <code>/app</code> is signed and has no
    key. For another server put its address and your key in their places:</p>
    <pre id="first-request">${FIRST_REQUEST}</pre>
    <p>An answer has <code>success</code> and <code>data</code>, and a list has <code>pagination</code>:</p>
    <pre>${JSON.stringify(EMPTY_LIST, null, 2)}</pre>
    <p>An error is <code>application/problem+json</code> (RFC 9457). <code>code</code> is for programs, <code>error</code>
    for people, and <code>errors</code> says what is wrong where. A misspelt member of a new world is answered with</p>
    <pre>${JSON.stringify(misspelt(), null, 2)}</pre>`;
}

const FIRST_REQUEST =
  'curl -sS "$(cat .orrery/url)/api/worlds" -H "Authorization: Bearer $(cat .orrery/api-key)"';

const EMPTY_LIST = { success: true, data: [], pagination: { page: 1, limit: 20, total: 0, totalPages: 0 } };

/** The answer to `POST /api/worlds` with `{ "name": "Derby", "tags": [] }`. */
function misspelt(): object {
  const request = { params: {}, query: {}, headers: {}, body: { name: 'Derby', tags: [] } };
  try {
    return parseRequest(catalogContract.rpcs['worlds.create'], request);
  } catch (error) {
    return problemOf(asServiceError(error), { instance: '/api/worlds', requestId: 'b7c1' });
  }
}
