import type { JsonObject } from '@orrery/sdk';
import { isObject } from './json.js';

interface Described {
  readonly title?: string;
  readonly description?: string;
  /** What values may be, in words. */
  readonly hint?: string;
  /** What the form starts with. */
  readonly initial?: unknown;
}

/** Bounds of a number, or of how long a text or a list is. The hint names them, the form checks them. */
export interface Bounds {
  readonly least?: number;
  readonly most?: number;
  /** Exclusive. */
  readonly above?: number;
  /** Exclusive. */
  readonly below?: number;
}
interface Bounded extends Described {
  readonly bounds?: Bounds;
}

export type Field =
  | (Bounded & { readonly kind: 'text'; readonly isLong: boolean })
  | (Bounded & { readonly kind: 'number'; readonly isWhole: boolean })
  | (Described & { readonly kind: 'boolean' })
  | (Described & { readonly kind: 'choice'; readonly options: readonly unknown[] })
  | (Described & { readonly kind: 'object'; readonly members: readonly Member[] })
  | (Bounded & { readonly kind: 'list'; readonly item: Field })
  /** Any value, entered as JSON text. */
  | (Described & { readonly kind: 'json' });

type FieldOf<Kind extends Field['kind']> = Extract<Field, { readonly kind: Kind }>;
export type TextField = FieldOf<'text'>;
export type NumberField = FieldOf<'number'>;
export type ListField = FieldOf<'list'>;
export type ObjectField = FieldOf<'object'>;

export interface Member {
  readonly name: string;
  readonly isRequired: boolean;
  readonly field: Field;
}

/** How the input of an event is entered. `json`: no form can show it, for the reason given. */
export type InputForm =
  | { readonly kind: 'form'; readonly root: ObjectField }
  | { readonly kind: 'json'; readonly reason: string };

/** The form of an `inputSchema` in either of its two notations (docs/schemas.md). */
export function formOf(inputSchema: JsonObject | null): InputForm {
  if (inputSchema === null) return { kind: 'json', reason: 'This event takes any input.' };
  const root = isJsonSchema(inputSchema)
    ? fieldOfSchema(inputSchema)
    : ({ kind: 'object', members: membersOfMap(inputSchema) } as const);
  if (root.kind === 'object') return { kind: 'form', root };
  return { kind: 'json', reason: 'No form can show all inputs that this event takes.' };
}

/** The service tells the two notations apart by the same rule. */
const isJsonSchema = (schema: JsonObject): boolean =>
  Object.hasOwn(schema, '$schema') || (schema['type'] === 'object' && isObject(schema['properties']));

const TYPE = /^(\w+?)((?:\[\])*)(\?)?$/;

/** The members of a short map such as `{ "raceId": "string", "laps": "integer?", "tags": "string[]" }`. */
const membersOfMap = (map: JsonObject): Member[] =>
  Object.entries(map).map(([name, type]) => {
    if (isObject(type))
      return { name, isRequired: true, field: { kind: 'object', members: membersOfMap(type) } };
    const [, word = '', lists = '', optional] = TYPE.exec(String(type)) ?? [];
    const field = Array.from({ length: lists.length / 2 }).reduce<Field>(
      (item) => ({ kind: 'list', item }),
      fieldOfType(word),
    );
    return { name, isRequired: optional === undefined, field };
  });

function fieldOfType(word: string): Field {
  switch (word) {
    case 'string':
      return { kind: 'text', isLong: false };
    case 'integer':
      return { kind: 'number', isWhole: true };
    case 'float':
    case 'number':
      return { kind: 'number', isWhole: false };
    case 'boolean':
      return { kind: 'boolean' };
    case 'object':
      return { kind: 'json', hint: 'an object' };
    case 'array':
      return { kind: 'json', hint: 'a list' };
    default:
      return { kind: 'json' };
  }
}

/** Keywords that no control can show: such values are entered as JSON. */
const FREE = [
  'allOf',
  'anyOf',
  'oneOf',
  'not',
  'if',
  'prefixItems',
  'contains',
  'patternProperties',
  'dependentSchemas',
  'dependentRequired',
  'propertyNames',
];

/** Texts that may be longer have a control of several lines. */
const LONG_TEXT = 200;
/** References may unfold into far more schemas than the document has. */
const MOST_FIELDS = 500;

interface Unfolding {
  readonly document: JsonObject;
  fields: number;
}

/** The control of a contract in JSON Schema (2020-12). What no control can show becomes a JSON field. */
export const fieldOfSchema = (document: JsonObject): Field => fieldOf(document, { document, fields: 0 }, []);

/** @param path the references that lead here: one that leads to itself is not followed again */
function fieldOf(schema: unknown, unfolding: Unfolding, path: readonly string[]): Field {
  unfolding.fields += 1;
  if (!isObject(schema) || unfolding.fields > MOST_FIELDS) return { kind: 'json' };
  const { $ref: ref, ...beside } = schema;
  if (typeof ref !== 'string') return { ...described(schema), ...control(schema, unfolding, path) };
  const target = path.includes(ref) ? undefined : targetOf(ref, unfolding.document);
  if (target === undefined) return { ...described(beside), kind: 'json' };
  return fieldOf({ ...target, ...beside }, unfolding, [...path, ref]);
}

function control(schema: JsonObject, unfolding: Unfolding, path: readonly string[]): Field {
  if (FREE.some((keyword) => Object.hasOwn(schema, keyword))) return { kind: 'json' };
  if (Array.isArray(schema['enum'])) return { kind: 'choice', options: schema['enum'] };
  if (Object.hasOwn(schema, 'const')) return { kind: 'choice', options: [schema['const']] };
  switch (schema['type'] ?? (isObject(schema['properties']) ? 'object' : undefined)) {
    case 'string':
      return textField(schema);
    case 'integer':
    case 'number':
      return numberField(schema);
    case 'boolean':
      return { kind: 'boolean' };
    case 'object':
      return objectField(schema, unfolding, path);
    case 'array':
      return listField(schema, unfolding, path);
    default:
      return { kind: 'json' };
  }
}

function textField({ maxLength, minLength, pattern, format }: JsonObject): Field {
  const hint = hintOf([
    range(minLength, maxLength, 'characters'),
    typeof pattern === 'string' && `matches ${pattern}`,
    typeof format === 'string' && format,
  ]);
  const bounds = boundsOf({ least: minLength, most: maxLength });
  return { kind: 'text', isLong: Number(maxLength) > LONG_TEXT, ...hint, ...bounds };
}

function numberField(schema: JsonObject): Field {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  const hint = hintOf([
    range(minimum, maximum),
    typeof exclusiveMinimum === 'number' && `above ${exclusiveMinimum}`,
    typeof exclusiveMaximum === 'number' && `below ${exclusiveMaximum}`,
    typeof multipleOf === 'number' && `a multiple of ${multipleOf}`,
  ]);
  const bounds = boundsOf({
    least: minimum,
    most: maximum,
    above: exclusiveMinimum,
    below: exclusiveMaximum,
  });
  return { kind: 'number', isWhole: schema['type'] === 'integer', ...hint, ...bounds };
}

function objectField(schema: JsonObject, unfolding: Unfolding, path: readonly string[]): Field {
  const { properties, required = [], additionalProperties: others } = schema;
  const names: readonly unknown[] = Array.isArray(required) ? required : [];
  const isListed = isObject(properties) && names.every((name) => Object.hasOwn(properties, String(name)));
  if (!isListed || isObject(others)) return { kind: 'json', hint: 'an object' };
  const members = Object.entries(properties).map(([name, member]) => ({
    name,
    isRequired: names.includes(name),
    field: fieldOf(member, unfolding, path),
  }));
  return { kind: 'object', members };
}

function listField(schema: JsonObject, unfolding: Unfolding, path: readonly string[]): Field {
  const { items, minItems, maxItems, uniqueItems } = schema;
  if (!isObject(items)) return { kind: 'json', hint: 'a list' };
  const hint = hintOf([range(minItems, maxItems, 'items'), uniqueItems === true && 'each once']);
  const bounds = boundsOf({ least: minItems, most: maxItems });
  return { kind: 'list', item: fieldOf(items, unfolding, path), ...hint, ...bounds };
}

function described({ title, description, default: initial }: JsonObject) {
  return {
    ...(typeof title === 'string' && { title }),
    ...(typeof description === 'string' && { description }),
    ...(initial !== undefined && { initial }),
  };
}

/** What `#`, `#/$defs/x` or `#anchor` refers to; undefined where it leads nowhere. */
function targetOf(ref: string, document: JsonObject): JsonObject | undefined {
  if (ref === '#') return document;
  if (!ref.startsWith('#/')) return anchored(ref.slice(1), document);
  const target = ref
    .slice(2)
    .split('/')
    .reduce<unknown>((at, step) => (isObject(at) ? at[nameIn(step)] : undefined), document);
  return isObject(target) ? target : undefined;
}

/** A name in a pointer within a URI's fragment (RFC 6901 §6). */
function nameIn(step: string): string {
  const isEncoded = /%[0-9a-f]{2}/i.test(step) && !/%(?![0-9a-f]{2})/i.test(step);
  return (isEncoded ? decodeURIComponent(step) : step).replaceAll('~1', '/').replaceAll('~0', '~');
}

function anchored(name: string, { $defs: definitions }: JsonObject): JsonObject | undefined {
  const all = isObject(definitions) ? Object.values(definitions) : [];
  return all.filter(isObject).find((one) => one['$anchor'] === name);
}

function range(least: unknown, most: unknown, unit = ''): string | false {
  const [from, to] = [typeof least === 'number', typeof most === 'number'];
  const text = from && to ? `${least} to ${most}` : from ? `at least ${least}` : to && `at most ${most}`;
  return text && `${text} ${unit}`.trim();
}

function hintOf(parts: readonly (string | false)[]): { hint?: string } {
  const said = parts.filter((part) => part !== false);
  return said.length === 0 ? {} : { hint: said.join(', ') };
}

/** Those that are numbers. */
function boundsOf(given: { readonly [Bound in keyof Bounds]: unknown }): { bounds?: Bounds } {
  const bounds = Object.entries(given).filter(([, bound]) => typeof bound === 'number');
  return bounds.length === 0 ? {} : { bounds: Object.fromEntries(bounds) };
}
