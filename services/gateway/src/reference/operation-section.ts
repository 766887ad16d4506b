import type { JsonSchema } from '../openapi/json-schema.js';
import type { Parameter } from '../openapi/parameters.js';
import { type Html, html } from './html.js';
import { memberRows, prose, schemaText } from './schema-text.js';

interface Content {
  [type: string]: { schema: JsonSchema; example?: unknown };
}

/** What the page reads of an operation of the document. */
export interface DescribedOperation {
  operationId: string;
  summary: string;
  tags: string[];
  security: { apiKey?: string[] }[];
  parameters?: Parameter[];
  requestBody?: { content: Content };
  responses: Record<string, { $ref?: string; description?: string; content?: Content }>;
}

export interface PlacedOperation {
  method: string;
  path: string;
  operation: DescribedOperation;
}

/** One operation: closed it shows method, path and summary, open all details. */
export function operationSection({ method, path, operation }: PlacedOperation): Html {
  const body = operation.requestBody?.content['application/json'];
  return html`<details id="${operation.operationId}"><summary><b class="${method}">${method.toUpperCase()}</b>
    <code>${path}</code> ${operation.summary}</summary>
    <p>${accessText(operation)}</p>
    ${operation.parameters && html`<table>${operation.parameters.map(parameterRow)}</table>`}
    ${body && html`<h4>Body: ${schemaText(body.schema)}</h4>${membersTable(body.schema)}${example(body.example)}`}
    <h4>Answers</h4><ul>${Object.entries(operation.responses).map(responseItem)}</ul></details>`;
}

function accessText({ security }: DescribedOperation): string {
  const scopes = security[0]?.apiKey;
  if (scopes === undefined) return 'Needs no token.';
  return scopes.length === 0 ? 'Needs an API key.' : `Needs an API key with the scope ${scopes.join(', ')}.`;
}

const parameterRow = ({ name, in: location, required, schema, description }: Parameter): Html =>
  html`<tr><td><code>${name}</code><td>${location}<td>${schemaText(schema)}<td>${required ? 'required' : ''} ${prose(description)}`;

function membersTable(schema: JsonSchema): Html {
  const rows = memberRows(schema);
  return rows.length === 0 ? html`` : html`<table>${rows}</table>`;
}

const example = (value: unknown): Html =>
  value === undefined ? html`` : html`<pre>${JSON.stringify(value, null, 2)}</pre>`;

type Response = DescribedOperation['responses'][string];

function responseItem([status, response]: [string, Response]): Html {
  const shared = /\/Problem(\d+)$/.exec(response.$ref ?? '')?.[1];
  if (shared !== undefined) return html`<li>${status} <a href="#problem-${shared}">as everywhere</a>`;
  const answered = response.content?.['application/json']?.schema as
    | { properties?: { data?: JsonSchema } }
    | undefined;
  const data = answered?.properties?.data;
  const stream = response.content?.['text/event-stream']?.schema;
  return html`<li>${status} ${prose(response.description)}${data && html`: <code>data</code> is ${schemaText(data)}`}${stream && streamText(stream)}`;
}

const streamText = (stream: JsonSchema): Html =>
  html`. ${prose(stream['description'])} The data of an event is ${schemaText(stream['contentSchema'] as JsonSchema)}.`;
