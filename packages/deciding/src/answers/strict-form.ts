import {
  type AttributeDefinition,
  childPointer,
  findUnsafeJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  parseJson,
  toNfc,
  type VersionDefinition,
} from '@orrery/contracts';
import { type ChangeableSchema, changeableSchemas, resultSchema } from './changeable-schemas.js';

/**
 * The form of an answer that a strict server is asked for:
 *
 *   { "stateChanges": { "<schema>": [{ "instanceId", "state", "unset", "delete" }] }, "result" }
 *
 * Every property is required and objects are closed. In `state` null means unchanged; `unset` names the attributes to
 * remove; `delete` is there where the guards allow deletion.
 */
export interface StrictForm {
  readonly schema: JsonObject;
  /** The answer as a mutation in its plain form. @throws UnreadableAnswer */
  read(answer: JsonObject, entities: JsonObject): JsonObject;
}

/** Properties and listed texts that strict servers take without doubt; larger forms are asked for as plain JSON. */
const MAX_PROPERTIES = 1000;
const MAX_LISTED = 500;

/** Null for an event whose form strict servers would refuse for its size. */
export function strictFormOf(definition: VersionDefinition): StrictForm | null {
  const forms = new Map(
    changeableSchemas(definition).map((one) => [one.name, schemaForm(one, definition)] as const),
  );
  const result = resultShape(resultSchema(definition));
  const lists = [...forms].map(([name, form]) => [name, { type: 'array', items: form.schema }] as const);
  const schema = closedObject({
    ...(forms.size === 0 ? {} : { stateChanges: closedObject(Object.fromEntries(lists)) }),
    result: result.schema,
  });
  const { properties, listed } = sizeOf(schema);
  if (properties > MAX_PROPERTIES || listed > MAX_LISTED) return null;
  return { schema, read: (answer, entities) => readForm(answer, entities, forms, result) };
}

function sizeOf(
  value: JsonValue,
  size = { properties: 0, listed: 0 },
): { properties: number; listed: number } {
  if (Array.isArray(value)) for (const one of value) sizeOf(one, size);
  if (!isJsonObject(value)) return size;
  const { properties, enum: listed } = value;
  if (isJsonObject(properties)) size.properties += Object.keys(properties).length;
  if (Array.isArray(listed)) size.listed += listed.length;
  for (const member of Object.values(value)) sizeOf(member, size);
  return size;
}

interface SchemaForm {
  readonly schema: JsonObject;
  /** The change of one instance. @throws UnreadableAnswer */
  read(item: JsonObject, current: JsonObject | undefined, pointer: string): JsonObject;
}

function schemaForm({ mode, attributes }: ChangeableSchema, { guards }: VersionDefinition): SchemaForm {
  const allowed = attributes.filter(({ name }) => !guards?.deny?.includes(name));
  const shapes = new Map(
    allowed.map((attribute) => [attribute.name, orNull(attributeShape(attribute))] as const),
  );
  const removable = allowed
    .filter(({ constraints }) => constraints?.required !== true)
    .map(({ name }) => name);
  const properties = {
    instanceId: { type: 'string' },
    state: closedObject(Object.fromEntries([...shapes].map(([name, { schema }]) => [name, schema]))),
    ...(removable.length === 0
      ? {}
      : { unset: { type: 'array', items: { type: 'string', enum: removable } } }),
    ...(guards?.delete === true ? { delete: { type: 'boolean' } } : {}),
  };
  const known = new Set(['instanceId', 'state', 'unset', 'delete']);
  return {
    schema: closedObject(properties),
    read: (item, current, pointer) => {
      const unknown = Object.keys(item).find((key) => !known.has(key));
      if (unknown !== undefined)
        throw new UnreadableAnswer(`${childPointer(pointer, unknown)}: there is no such member`);
      if (item['delete'] === true) return { $delete: true };
      const set = valuesSet(item['state'], shapes, `${pointer}/state`);
      const unset = namesUnset(item['unset'], `${pointer}/unset`);
      // A full change replaces the state, so what it leaves unchanged is repeated.
      if (mode === 'full') return { ...kept(current, unset), ...set };
      return { ...Object.fromEntries(unset.map((name) => [name, null])), ...set };
    },
  };
}

function valuesSet(
  state: JsonValue | undefined,
  shapes: ReadonlyMap<string, Shape>,
  pointer: string,
): JsonObject {
  if (!isJsonObject(state)) throw new UnreadableAnswer(`${pointer}: it must be an object`);
  const values = Object.entries(state).filter(([, value]) => value !== null);
  return Object.fromEntries(
    values.map(([name, value]) => {
      const shape = shapes.get(toNfc(name));
      return [name, shape === undefined ? value : shape.read(value, childPointer(pointer, name))];
    }),
  );
}

function namesUnset(unset: JsonValue | undefined, pointer: string): string[] {
  if (unset === undefined || unset === null) return [];
  if (Array.isArray(unset) && unset.every((name) => typeof name === 'string')) return unset;
  throw new UnreadableAnswer(`${pointer}: it must be a list of names of attributes`);
}

const kept = (current: JsonObject | undefined, unset: readonly string[]): JsonObject =>
  Object.fromEntries(Object.entries(current ?? {}).filter(([name]) => !unset.includes(name)));

function readForm(
  { stateChanges = {}, result = null }: JsonObject,
  entities: JsonObject,
  forms: ReadonlyMap<string, SchemaForm>,
  shape: Shape,
): JsonObject {
  if (!isJsonObject(stateChanges)) throw new UnreadableAnswer('/stateChanges: it must be an object');
  const changes = new Map<string, JsonObject>();
  for (const [name, items] of Object.entries(stateChanges)) {
    const pointer = childPointer('/stateChanges', name);
    const form = forms.get(toNfc(name));
    if (form === undefined)
      throw new UnreadableAnswer(`${pointer}: this event may not change instances of "${name}"`);
    readItems(items, pointer, (item, instanceId, at) => {
      const key = `${name}:${instanceId}`;
      if (changes.has(key)) throw new UnreadableAnswer(`${at}: "${key}" is changed twice`);
      changes.set(key, form.read(item, loadedState(entities, name, instanceId), at));
    });
  }
  return { stateChanges: Object.fromEntries(changes), result: shape.read(result, '/result') };
}

function readItems(
  items: JsonValue,
  pointer: string,
  read: (item: JsonObject, instanceId: string, pointer: string) => void,
): void {
  if (!Array.isArray(items)) throw new UnreadableAnswer(`${pointer}: it must be a list`);
  for (const [index, item] of items.entries()) {
    const at = childPointer(pointer, index);
    if (!isJsonObject(item) || typeof item['instanceId'] !== 'string')
      throw new UnreadableAnswer(`${at}: it must be an object with a text "instanceId"`);
    read(item, item['instanceId'], at);
  }
}

/** The state of an instance that the execution has read. */
export function loadedState(
  entities: JsonObject,
  schema: string,
  instanceId: string,
): JsonObject | undefined {
  const instances = entities[schema];
  const state =
    isJsonObject(instances) && Object.hasOwn(instances, instanceId) ? instances[instanceId] : undefined;
  return isJsonObject(state) ? state : undefined;
}

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
  if (type === 'json') return JSON_TEXT;
  const { min, max, enum: texts } = constraints ?? {};
  const bounds = { ...(min !== undefined && { minimum: min }), ...(max !== undefined && { maximum: max }) };
  const allowed = texts === undefined ? {} : { enum: [...texts] };
  return shapeOf({ type: type === 'float' ? 'number' : type, ...bounds, ...allowed }, 1);
}

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
