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

export type FieldOf<Kind extends Field['kind']> = Extract<Field, { readonly kind: Kind }>;
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
  const limits = limitsOf({ least: minLength, most: maxLength }, 'characters', [
    typeof pattern === 'string' && `matches ${pattern}`,
    typeof format === 'string' && format,
  ]);
  return { kind: 'text', isLong: Number(maxLength) > LONG_TEXT, ...limits };
}

function numberField({ type, minimum, maximum, multipleOf, ...exclusive }: JsonObject): Field {
  const { exclusiveMinimum: above, exclusiveMaximum: below } = exclusive;
  const limits = limitsOf({ least: minimum, most: maximum, above, below }, '', [
    typeof multipleOf === 'number' && `a multiple of ${multipleOf}`,
  ]);
  return { kind: 'number', isWhole: type === 'integer', ...limits };
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
  const limits = limitsOf({ least: minItems, most: maxItems }, 'items', [
    uniqueItems === true && 'each once',
  ]);
  return { kind: 'list', item: fieldOf(items, unfolding, path), ...limits };
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

/** The bounds that are numbers, and a hint of them in words with what else is to be said. */
function limitsOf(
  given: { readonly [Bound in keyof Bounds]: unknown },
  unit: string,
  others: readonly (string | false)[],
): { bounds?: Bounds; hint?: string } {
  const numbers = Object.entries(given).filter(([, bound]) => typeof bound === 'number');
  const bounds: Bounds = Object.fromEntries(numbers);
  const { least, most, above, below } = bounds;
  const range = least === undefined ? `at most ${most}` : `at least ${least}`;
  const words = least === undefined || most === undefined ? range : `${least} to ${most}`;
  const hint = [
    (least !== undefined || most !== undefined) && `${words} ${unit}`.trim(),
    above !== undefined && `above ${above}`,
    below !== undefined && `below ${below}`,
    ...others,
  ].filter((part) => part !== false);
  return { ...(numbers.length > 0 && { bounds }), ...(hint.length > 0 && { hint: hint.join(', ') }) };
}
