import {
  type AttributeDefinition,
  childPointer,
  findUnsafeJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
} from '@orrery/contracts';

/**
 * A value as strict servers let one ask for it: a JSON Schema whose objects are closed and require every property, and
 * how the value meant is read from an answer. What does not fit the schema is left as it is; the runtime's own checks
 * refuse it later.
 */
export interface Shape {
  readonly schema: JsonObject;
  /** @throws UnreadableAnswer */
  read(value: JsonValue, pointer: string): JsonValue;
}

/** An answer that cannot be read in the form that was asked for. */
export class UnreadableAnswer extends Error {
  override readonly name = 'UnreadableAnswer';
}

/** A text that holds JSON, for values that no closed schema describes. */
const JSON_TEXT: Shape = {
  schema: { type: 'string', description: 'JSON text' },
  read: (value, pointer) => (typeof value === 'string' ? parsed(value, pointer) : value),
};

function parsed(text: string, pointer: string): JsonValue {
  let value: JsonValue;
  try {
    value = parseJson(text);
  } catch {
    throw new UnreadableAnswer(`${pointer}: the text is not JSON`);
  }
  const unsafe = findUnsafeJson(value);
  if (unsafe === undefined) return value;
  throw new UnreadableAnswer(`${pointer}${unsafe.pointer}: ${unsafe.message}`);
}

const plain = (schema: JsonObject): Shape => ({ schema, read: (value) => value });

/** The shape, or null. */
export const orNull = ({ schema, read }: Shape): Shape => ({
  schema: nullableSchema(schema),
  read: (value, pointer) => (value === null ? null : read(value, pointer)),
});

function nullableSchema(schema: JsonObject): JsonObject {
  const { type, enum: allowed } = schema;
  if (typeof type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  return { ...schema, type: [type, 'null'], ...(Array.isArray(allowed) ? { enum: [...allowed, null] } : {}) };
}

/** Texts that a schema lists at most; more are only checked in the answer. */
const MAX_ENUM = 100;

/**
 * An attribute's value. Bounds and lists of texts are part of the schema, patterns are not: some servers run them on an
 * engine that a hostile pattern occupies for minutes.
 */
export function attributeShape({ type, constraints }: AttributeDefinition): Shape {
  switch (type) {
    case 'json':
      return JSON_TEXT;
    case 'boolean':
      return plain({ type: 'boolean' });
    case 'string':
      return plain({ type: 'string', ...listed(constraints?.enum) });
    case 'integer':
      return plain({ type: 'integer', ...bounds(constraints) });
    case 'float':
      return plain({ type: 'number', ...bounds(constraints) });
    default:
      throw new Error(`no form of answer for attributes of the type ${type satisfies never}`);
  }
}

const bounds = (constraints: AttributeDefinition['constraints']): JsonObject => ({
  ...(constraints?.min === undefined ? {} : { minimum: constraints.min }),
  ...(constraints?.max === undefined ? {} : { maximum: constraints.max }),
});

const listed = (allowed: readonly JsonValue[] | undefined): JsonObject =>
  allowed === undefined || allowed.length === 0 || allowed.length > MAX_ENUM ? {} : { enum: [...allowed] };

/** Levels of a result that are asked for as such; what lies deeper is JSON text. Strict servers allow 10 in all. */
const MAX_DEPTH = 5;

/** Keywords that a closed schema can say; one with others is asked for as JSON text, and checked in the answer. */
const SAYABLE = new Set([
  ...['$schema', 'title', 'description', 'type', 'enum', 'minimum', 'maximum', 'properties', 'required'],
  ...['additionalProperties', 'items', 'pattern', 'format', 'minLength', 'maxLength', 'minItems', 'maxItems'],
]);

/** An event's result, from its JSON Schema; without one any object, or null. */
export const resultShape = (schema: JsonObject | null): Shape =>
  schema === null ? orNull(JSON_TEXT) : shapeOf(schema, 1);

function shapeOf(schema: JsonValue | undefined, depth: number): Shape {
  if (!isJsonObject(schema) || depth > MAX_DEPTH || Object.keys(schema).some((key) => !SAYABLE.has(key)))
    return JSON_TEXT;
  const { type, items } = schema;
  if (type === 'object') return objectShape(schema, depth);
  if (type === 'array') return items === undefined ? JSON_TEXT : listShape(shapeOf(items, depth + 1));
  if (type === 'string') return plain({ type, ...listed(listOfTexts(schema['enum'])) });
  if (type === 'boolean' || type === 'null') return plain({ type });
  if (type !== 'integer' && type !== 'number') return JSON_TEXT;
  return plain({ type, ...bound('minimum', schema), ...bound('maximum', schema) });
}

/** A bound that says more than that whole numbers are safe. */
function bound(keyword: 'minimum' | 'maximum', { [keyword]: value }: JsonObject): JsonObject {
  return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER ? { [keyword]: value } : {};
}

const listOfTexts = (allowed: JsonValue | undefined): string[] | undefined =>
  Array.isArray(allowed) && allowed.every((one) => typeof one === 'string') ? allowed : undefined;

const listShape = (element: Shape): Shape => ({
  schema: { type: 'array', items: element.schema },
  read: (value, pointer) =>
    Array.isArray(value) ? value.map((one, index) => element.read(one, childPointer(pointer, index))) : value,
});

/** Properties that may be absent are required and may be null; a null of theirs is read as absent. */
function objectShape({ properties, required, additionalProperties }: JsonObject, depth: number): Shape {
  if (!isJsonObject(properties) || isJsonObject(additionalProperties)) return JSON_TEXT;
  const names = Object.keys(properties);
  const needed = new Set(Array.isArray(required) ? required : []);
  const shapes = new Map(
    names.map((name) => {
      const shape = shapeOf(properties[name], depth + 1);
      return [name, needed.has(name) ? shape : orNull(shape)] as const;
    }),
  );
  return {
    schema: closedObject(Object.fromEntries([...shapes].map(([name, { schema }]) => [name, schema]))),
    read: (value, pointer) => {
      if (!isJsonObject(value)) return value;
      const members = Object.entries(value).filter(
        ([name, member]) => member !== null || !shapes.has(name) || needed.has(name),
      );
      return Object.fromEntries(
        members.map(([name, member]) => {
          const shape = shapes.get(name);
          return [name, shape === undefined ? member : shape.read(member, childPointer(pointer, name))];
        }),
      );
    },
  };
}

/** An object that has exactly these properties. */
export const closedObject = (properties: JsonObject): JsonObject => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});
