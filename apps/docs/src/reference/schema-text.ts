import { type Html, html } from '../html/html.js';
import type { JsonSchema } from '../openapi/document.js';

const list = (value: unknown): JsonSchema[] => (Array.isArray(value) ? value : []);

/** A schema in a few words: `string, 1–255`, `World`, `Attribute[]`, `"ai" or "direct"`. Records are links. */
export function schemaText(schema: JsonSchema | undefined): Html {
  if (schema === undefined) return html`any`;
  const record = recordOf(schema);
  if (record !== undefined) return html`<a href="/docs/reference/records#schema-${record}">${record}</a>`;
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

/** The name of the record that a schema refers to. */
export const recordOf = (schema: JsonSchema): string | undefined =>
  /^#\/components\/schemas\/(.+)$/.exec(String(schema['$ref'] ?? ''))?.[1];

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

/** What a request or a record holds: name, what it is, whether it is required, what it means. */
export interface Member {
  readonly name: string;
  readonly schema: JsonSchema;
  readonly required: boolean;
  readonly description: unknown;
}

export const memberItems = (members: readonly Member[]): Html =>
  html`<dl class="members">${members.map(memberItem)}</dl>`;

const memberItem = ({ name, schema, required, description }: Member): Html =>
  html`<div><dt><code>${name}</code> <span class="kind">${schemaText(schema)}</span>${required ? html` <span class="required">required</span>` : ''}</dt><dd>${prose(description)}</dd></div>`;

/** The members of an object schema. */
export function membersOf(schema: JsonSchema): Member[] {
  const required = new Set((schema['required'] ?? []) as string[]);
  const members = Object.entries((schema['properties'] ?? {}) as Record<string, JsonSchema>);
  return members.map(([name, member]) => ({
    name,
    schema: member,
    required: required.has(name),
    description: member['description'],
  }));
}
