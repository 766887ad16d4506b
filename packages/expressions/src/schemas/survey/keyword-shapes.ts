import { isJsonObject, type JsonValue } from '@orrery/contracts';

/** How a keyword holds schemas; those in place apply to the same value as the schema that they stand in. */
export interface SchemaKeyword {
  readonly holds: 'one' | 'list' | 'map';
  readonly inPlace: boolean;
}

const apart = (holds: SchemaKeyword['holds'], ...names: string[]): [string, SchemaKeyword][] =>
  names.map((name) => [name, { holds, inPlace: false }]);
const inPlace = (holds: SchemaKeyword['holds'], ...names: string[]): [string, SchemaKeyword][] =>
  names.map((name) => [name, { holds, inPlace: true }]);

export const SCHEMA_KEYWORDS: ReadonlyMap<string, SchemaKeyword> = new Map([
  ...apart('map', '$defs', 'definitions', 'properties', 'patternProperties'),
  ...apart('list', 'prefixItems'),
  ...apart('one', 'additionalProperties', 'propertyNames', 'items', 'contains'),
  ...apart('one', 'unevaluatedProperties', 'unevaluatedItems'),
  ...inPlace('map', 'dependentSchemas'),
  ...inPlace('list', 'allOf', 'anyOf', 'oneOf'),
  ...inPlace('one', 'not', 'if', 'then', 'else'),
]);

/** Keywords that would reach outside the document, or change what others mean depending on the way taken to them. */
const REFUSED_KEYWORDS: ReadonlySet<string> = new Set([
  '$id',
  '$async',
  '$dynamicRef',
  '$dynamicAnchor',
  '$recursiveRef',
  '$recursiveAnchor',
  '$vocabulary',
]);

const TYPE_NAMES: readonly JsonValue[] = [
  'null',
  'boolean',
  'object',
  'array',
  'number',
  'string',
  'integer',
];

const isNumber = (value: JsonValue): boolean => typeof value === 'number' && Number.isFinite(value);
const isCount = (value: JsonValue): boolean =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0;
const isTexts = (value: JsonValue): boolean =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
const isTypes = (value: JsonValue): boolean =>
  Array.isArray(value)
    ? value.length > 0 && value.every((type) => TYPE_NAMES.includes(type))
    : TYPE_NAMES.includes(value);

/** What a keyword that holds no schema must look like: the words for the message, and the test. */
const shapes: Readonly<Record<string, readonly [string, (value: JsonValue) => boolean]>> = {
  type: ['a type name, or a list of them', isTypes],
  enum: ['a list', Array.isArray],
  required: ['a list of texts', isTexts],
  dependentRequired: [
    'a map of lists of texts',
    (value) => isJsonObject(value) && Object.values(value).every(isTexts),
  ],
  uniqueItems: ['true or false', (value) => typeof value === 'boolean'],
  multipleOf: ['a number above 0', (value) => isNumber(value) && Number(value) > 0],
  $ref: ['text', (value) => typeof value === 'string'],
  pattern: ['text', (value) => typeof value === 'string'],
  $anchor: ['a name', (value) => typeof value === 'string' && /^[A-Za-z_][-A-Za-z0-9._]*$/.test(value)],
  ...all(['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum'], ['a number', isNumber]),
  ...all(
    [
      'minLength',
      'maxLength',
      'minItems',
      'maxItems',
      'minContains',
      'maxContains',
      'minProperties',
      'maxProperties',
    ],
    ['a whole number, 0 or more', isCount],
  ),
};

function all<T>(names: readonly string[], shape: T): Record<string, T> {
  return Object.fromEntries(names.map((name) => [name, shape]));
}

/** What is wrong with a keyword's own value, if anything. Unknown keywords are annotations. */
export function keywordComplaint(keyword: string, value: JsonValue): string | undefined {
  if (REFUSED_KEYWORDS.has(keyword)) return `The keyword "${keyword}" is not supported.`;
  const shape = Object.hasOwn(shapes, keyword) ? shapes[keyword] : undefined;
  return shape === undefined || shape[1](value) ? undefined : `The keyword "${keyword}" must be ${shape[0]}.`;
}
