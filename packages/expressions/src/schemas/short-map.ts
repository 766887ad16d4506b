import {
  type AttributeType,
  childPointer,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  type JsonObject,
  type JsonValue,
} from '@orrery/contracts';
import { quoted } from '../messages/error-text.js';

export const DIALECT = 'https://json-schema.org/draft/2020-12/schema';

/** The types of attributes, and what only contracts know. */
const TYPES = {
  integer: { type: 'integer', minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
  float: { type: 'number' },
  number: { type: 'number' },
  string: { type: 'string' },
  boolean: { type: 'boolean' },
  json: {},
  any: {},
  object: { type: 'object' },
  array: { type: 'array' },
} satisfies Record<AttributeType | 'number' | 'any' | 'object' | 'array', JsonObject>;

const FIELD = new RegExp(`^(${Object.keys(TYPES).join('|')})((?:\\[\\]){0,8})(\\?)?$`);

/** JSON Schema has `$schema`, or `type: "object"` with `properties`; everything else is a short map (docs/schemas.md). */
export const isJsonSchema = (schema: JsonObject): boolean =>
  Object.hasOwn(schema, '$schema') || (schema['type'] === 'object' && isJsonObject(schema['properties']));

/**
 * A short map — `{ "raceId": "string", "laps": "integer?", "tags": "string[]", "car": { "speed": "float" } }` — as JSON
 * Schema. What it does not name is refused, at every level; `?` means that the field may be absent (not null).
 */
export function expandShortMap(map: JsonObject, pointer: string, problems: FieldProblem[]): JsonObject {
  const properties: JsonObject = {};
  const required: string[] = [];
  for (const [name, field] of Object.entries(map)) {
    properties[name] = expandField(field, childPointer(pointer, name), problems);
    if (typeof field !== 'string' || !field.endsWith('?')) required.push(name);
  }
  return { type: 'object', properties, required, additionalProperties: false };
}

function expandField(field: JsonValue, pointer: string, problems: FieldProblem[]): JsonObject {
  if (isJsonObject(field)) return expandShortMap(field, pointer, problems);
  const [, type = '', lists = ''] = (typeof field === 'string' && FIELD.exec(field)) || [];
  const schema: JsonObject | undefined = TYPES[type as keyof typeof TYPES];
  if (schema === undefined) {
    problems.push(fieldProblem(pointer, 'unknown_type', unknownType(field)));
    return {};
  }
  return Array.from({ length: lists.length / 2 }).reduce<JsonObject>(
    (items) => ({ type: 'array', items }),
    schema,
  );
}

const unknownType = (field: JsonValue): string =>
  `The type ${quoted(JSON.stringify(field), 60)} is not known. Types are ${Object.keys(TYPES).join(', ')}, each with [] and ? ` +
  `at its end, or a nested map. (A contract is JSON Schema when it has "$schema", or "type": "object" with "properties".)`;
