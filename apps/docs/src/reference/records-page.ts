import { type Html, html } from '../html/html.js';
import type { Page } from '../layout/page.js';
import { headingOf } from '../markdown/render-page.js';
import type { JsonSchema, OpenApi } from '../openapi/document.js';
import { memberItems, membersOf, prose, schemaText } from './schema-text.js';

/** Every record that requests and answers hold. */
export function recordsPage({ components }: OpenApi): Page {
  const records = Object.entries(components.schemas).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    path: 'reference/records',
    title: 'Records',
    description: 'What requests and answers hold, by the names of openapi.json.',
    content: html`<h1 id="schemas">Records</h1>
<p class="lead">What requests and answers hold, by the names that they have in <a href="/openapi.json">openapi.json</a>
and in the types of the <a href="/docs/sdk#types">SDK</a>.</p>${records.map(recordSection)}`,
    parts: records.map(([name, schema]) => ({
      anchor: `schema-${name}`,
      heading: name,
      depth: 2,
      text: String(schema['description'] ?? ''),
    })),
    layout: 'text',
  };
}

function recordSection([name, schema]: [string, JsonSchema]): Html {
  const members = membersOf(schema);
  return html`${headingOf(2, `schema-${name}`, html`${name}`)}<p>${prose(schema['description'])}</p>
${members.length === 0 ? html`<p class="kind">${schemaText(schema)}</p>` : memberItems(members)}`;
}
