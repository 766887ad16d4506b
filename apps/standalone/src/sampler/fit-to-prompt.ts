import { isJsonObject, type JsonObject, type JsonValue } from '@orrery/contracts';
import { isJsonText } from './draw-scalar.js';
import { drawValue } from './draw-value.js';
import type { Random } from './random.js';
import type { PromptFacts } from './read-prompt.js';

/** Instances of one schema that a proposal changes at most. */
const CHANGED = 3;
/** How far a number goes from where it is: this part of it, and 1 at least. */
const STEP = 0.1;

const member = (value: JsonValue | undefined, name: string): JsonValue | undefined =>
  isJsonObject(value) && Object.hasOwn(value, name) ? value[name] : undefined;
const membersOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});

/**
 * Narrows the schema of a proposal to what makes sense for the event: it changes instances that were read, by small
 * steps, and removes nothing. Where none was read, and the event may create, it creates one. What fits the narrowed
 * schema fits the given one. A schema of another form is returned as it is.
 */
export function fitToPrompt(
  schema: JsonValue,
  { contract, entities }: PromptFacts,
  random: Random,
): JsonValue {
  const properties = membersOf(member(schema, 'properties'));
  const lists = membersOf(member(properties.stateChanges, 'properties'));
  const { maxChangedInstances } = contract;
  let left = typeof maxChangedInstances === 'number' ? maxChangedInstances : Number.POSITIVE_INFINITY;
  const fitted = Object.entries(lists).map(([name, list]) => {
    const chosen = chooseInstances(name, { contract, entities }, left, random);
    left -= chosen.length;
    return [name, changesOf(list, name, chosen, { contract, entities }, random)] as const;
  });
  const stateChanges = { ...membersOf(properties.stateChanges), properties: Object.fromEntries(fitted) };
  const { result } = properties;
  return {
    ...membersOf(schema),
    properties: {
      ...properties,
      ...(fitted.length === 0 ? {} : { stateChanges }),
      ...(result === undefined ? {} : { result: fitResult(result, contract.result, random) }),
    },
  };
}

/** Some of the instances that were read; null for a new one. */
function chooseInstances(
  schema: string,
  { contract, entities }: PromptFacts,
  left: number,
  random: Random,
): readonly (string | null)[] {
  const read = Object.keys(membersOf(entities[schema]));
  if (left <= 0) return [];
  if (read.length === 0) return contract.mayCreate === true ? [null] : [];
  const most = Math.min(CHANGED, read.length, left);
  const chosen = new Set<string>();
  const count = random.whole(1, most);
  while (chosen.size < count) chosen.add(random.oneOf(read));
  return [...chosen];
}

/** A list with exactly one change for each of the instances. */
function changesOf(
  list: JsonValue,
  schema: string,
  instances: readonly (string | null)[],
  { contract, entities }: PromptFacts,
  random: Random,
): JsonValue {
  const change = membersOf(member(list, 'items'));
  const properties = membersOf(change.properties);
  if (properties.instanceId === undefined || properties.state === undefined) return list;
  const described = member(member(contract.mayChange, schema), 'attributes');
  const attributes = new Map(
    (Array.isArray(described) ? described : []).filter(isJsonObject).map((one) => [String(one.name), one]),
  );
  const prefixItems = instances.map((instanceId) => {
    const current = instanceId === null ? undefined : membersOf(member(entities[schema], instanceId));
    const state = stateOf(
      properties.state ?? {},
      { attributes, current, maxDelta: contract.maxDelta },
      random,
    );
    const own =
      instanceId === null ? { pattern: '^[A-Z]{3,6}_[0-9]{3}$', type: 'string' } : { const: instanceId };
    const { unset, delete: deletion } = properties;
    const kept = { ...(unset && { unset: { const: [] } }), ...(deletion && { delete: { const: false } }) };
    return { ...change, properties: { ...properties, instanceId: own, state, ...kept } };
  });
  const { length } = prefixItems;
  return { ...membersOf(list), prefixItems, items: false, minItems: length, maxItems: length };
}

interface StateFacts {
  readonly attributes: ReadonlyMap<string, JsonObject>;
  /** `undefined` for an instance that is created. */
  readonly current: JsonObject | undefined;
  readonly maxDelta: JsonValue | undefined;
}

/** The schema of a new state, in which at least one attribute changes. */
function stateOf(
  schema: JsonValue,
  { attributes, current, maxDelta }: StateFacts,
  random: Random,
): JsonValue {
  const properties = Object.entries(membersOf(member(schema, 'properties')));
  const changing = properties.length === 0 ? undefined : random.oneOf(properties)[0];
  const fitted = properties.map(([name, given]) => {
    const attribute = attributes.get(name) ?? {};
    const isNeeded = current === undefined && attribute.required === true && attribute.default === undefined;
    const asked = name === changing || isNeeded ? withoutNull(given) : given;
    const near = current === undefined ? asked : nearby(asked, current[name], member(maxDelta, name));
    return [
      name,
      typeof attribute.pattern === 'string' ? { ...membersOf(near), pattern: attribute.pattern } : near,
    ];
  });
  return { ...membersOf(schema), properties: Object.fromEntries(fitted) };
}

function withoutNull(schema: JsonValue): JsonValue {
  if (!isJsonObject(schema)) return schema;
  const without = { ...schema };
  if (Array.isArray(schema.type)) without.type = schema.type.filter((type) => type !== 'null');
  if (Array.isArray(schema.enum)) without.enum = schema.enum.filter((one) => one !== null);
  if (Array.isArray(schema.anyOf))
    without.anyOf = schema.anyOf.filter((one) => member(one, 'type') !== 'null');
  return without;
}

/** Narrows the bounds of a number to a step from where it is. */
function nearby(
  schema: JsonValue,
  current: JsonValue | undefined,
  maxDelta: JsonValue | undefined,
): JsonValue {
  // Beside a bound of the event's guards, what is no number counts as 0.
  const from = typeof current === 'number' ? current : 0;
  if (!isJsonObject(schema) || (typeof current !== 'number' && typeof maxDelta !== 'number')) return schema;
  const types = [schema.type].flat();
  if (!types.includes('integer') && !types.includes('number')) return schema;
  const step = typeof maxDelta === 'number' ? maxDelta : Math.max(1, Math.abs(from) * STEP);
  const minimum = Math.max(
    from - step,
    typeof schema.minimum === 'number' ? schema.minimum : -Number.MAX_VALUE,
  );
  const maximum = Math.min(
    from + step,
    typeof schema.maximum === 'number' ? schema.maximum : Number.MAX_VALUE,
  );
  return minimum > maximum ? schema : { ...schema, minimum, maximum };
}

/** Bounds that a contract has and the requested schema leaves out. */
const BOUNDS = ['pattern', 'format', 'minLength', 'maxLength', 'minItems', 'maxItems'];

/** A result's schema as requested, with what the contract says beyond it, and texts that hold JSON drawn from the contract. */
export const fitResult = (asked: JsonValue, contract: JsonValue | undefined, random: Random): JsonValue =>
  fitted(asked, contract, (schema) => {
    const definitions =
      isJsonObject(contract) && contract.$defs !== undefined ? { $defs: contract.$defs } : {};
    return JSON.stringify(drawValue({ ...schema, ...definitions }, random));
  });

function fitted(
  asked: JsonValue,
  contract: JsonValue | undefined,
  textOf: (schema: JsonObject) => string,
): JsonValue {
  if (!isJsonObject(asked) || !isJsonObject(contract)) return asked;
  if (isJsonText(asked)) return { const: textOf(contract) };
  const bounds = Object.fromEntries(
    BOUNDS.flatMap((name) => (contract[name] ? [[name, contract[name]]] : [])),
  );
  const within = isJsonObject(contract.properties) ? contract.properties : {};
  const properties = Object.entries(isJsonObject(asked.properties) ? asked.properties : {}).map(
    ([name, one]) => [name, fitted(one, within[name], textOf)],
  );
  return {
    ...asked,
    ...bounds,
    ...(asked.properties && { properties: Object.fromEntries(properties) }),
    ...(asked.items && { items: fitted(asked.items, contract.items, textOf) }),
  };
}
