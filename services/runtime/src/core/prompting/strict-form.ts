import {
  childPointer,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  toNfc,
  type VersionDefinition,
} from '@orrery/contracts';
import {
  attributeShape,
  closedObject,
  orNull,
  resultShape,
  type Shape,
  UnreadableAnswer,
} from './answer-shape.js';
import { type ChangeableSchema, changeableSchemas, resultSchema } from './prompt.js';

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
