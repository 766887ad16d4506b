import type { JsonSchema } from '../openapi/schema-book.js';
import type { Guide } from './guides.js';
import { howToCall } from './how-to-call.js';
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
    The same for programs: <a href="/openapi.json">openapi.json</a> (OpenAPI 3.1).</p>
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
