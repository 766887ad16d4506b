import type { JsonSchema } from '../openapi/json-schema.js';
import { type Html, html } from './html.js';

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
