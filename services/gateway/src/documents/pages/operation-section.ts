import type { Parameter } from '../openapi/describe-operation.js';
import type { JsonSchema } from '../openapi/schema-book.js';
import { type Html, html } from './html.js';

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

const list = (value: unknown): JsonSchema[] => (Array.isArray(value) ? value : []);

/** A schema in a few words: `string, 1–255`, `World`, `Attribute[]`, `"ai" or "direct"`. */
export function schemaText(schema: JsonSchema | undefined): Html {
  if (schema === undefined) return html`any`;
  const reference = /^#\/components\/schemas\/(.+)$/.exec(String(schema['$ref'] ?? ''))?.[1];
  if (reference !== undefined) return html`<a href="#schema-${reference}">${reference}</a>`;
  const choices = list(schema['anyOf'] ?? schema['oneOf']);
  if (choices.length > 0) return joined(choices.map(schemaText));
  if (Array.isArray(schema['enum']))
    return html`${schema['enum'].map((one) => JSON.stringify(one)).join(' or ')}`;
  if ('const' in schema) return html`${JSON.stringify(schema['const'])}`;
  if (schema['type'] === 'array')
    return html`${schemaText(schema['items'] as JsonSchema)}[]${rangeText(schema['minItems'] as number, schema['maxItems'] as number, ' items')}`;
  const map = schema['additionalProperties'];
  if (typeof map === 'object' && map !== null) return html`map of ${schemaText(map as JsonSchema)}`;
  return html`${[schema['type'] ?? 'any'].flat().join(' or ')}${bounds(schema)}`;
}

const joined = (parts: Html[]): Html =>
  html`${parts.map((part, at) => (at === 0 ? part : html` or ${part}`))}`;

function bounds(schema: JsonSchema): string {
  const { minimum, maximum, minLength, maxLength, default: fallback } = schema as Record<string, number>;
  const range = rangeText(minimum, maximum, '');
  const length = schema['format'] === undefined ? rangeText(minLength, maxLength, ' characters') : '';
  const shown = `${range}${length}`;
  return fallback === undefined ? shown : `${shown}, default ${JSON.stringify(fallback)}`;
}

function rangeText(least: number | undefined, most: number | undefined, unit: string): string {
  if (least === undefined && most === undefined) return '';
  if (most === undefined) return `, at least ${least}${unit}`;
  return least === undefined ? `, at most ${most}${unit}` : `, ${least}–${most}${unit}`;
}

/** A sentence of the document: what stands between backticks is code. */
export const prose = (text: unknown): Html =>
  html`${String(text ?? '')
    .split('`')
    .map((part, at) => (at % 2 === 0 ? part : html`<code>${part}</code>`))}`;

/** The members of an object schema as rows: name, what it is, whether it is required. */
export function memberRows(schema: JsonSchema): Html[] {
  const required = new Set((schema['required'] ?? []) as string[]);
  const members = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  return members.map(([name, member]) => {
    const note = html`${required.has(name) ? 'required' : ''}`;
    return html`<tr><td><code>${name}</code><td>${schemaText(member)}<td>${note} ${prose(member['description'])}`;
  });
}
