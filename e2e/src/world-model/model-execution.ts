import type { JsonObject, JsonValue } from '@orrery/contracts';
import { isValid, type ModelInstances, type ModelWorld, shownDifference, withDefaults } from './model.js';
import { type AttributeChange, type ChangePlan, INPUT_TYPES, type Term, type VersionPlan } from './plan.js';

/** How an execution ends: refused before it read, failed from then on, or done. */
export type Outcome =
  | { kind: 'refused' | 'failed'; status: number; code: string }
  | {
      kind: 'done';
      instances: ModelInstances;
      stateChanges: Record<string, JsonObject | null>;
      result: JsonValue;
    };

class Failure extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}
const fail = (code: string): never => {
  throw new Failure(code);
};

type Entities = Record<string, Record<string, JsonObject>>;

/** Foretells one execution of a version, in the plainest way that the rules allow. */
export function foretellExecution(
  world: ModelWorld,
  plan: VersionPlan,
  instances: ModelInstances,
  input: JsonObject,
): Outcome {
  if (plan.strictInput && !fitsContract(input))
    return { kind: 'refused', status: 400, code: 'invalid_input' };
  const selected = select(plan, instances, input);
  if (selected === undefined) return { kind: 'refused', status: 400, code: 'invalid_input' };
  try {
    return run(world, plan, instances, input, selected);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return { kind: 'failed', status: 400, code: error.code };
  }
}

function fitsContract(input: JsonObject): boolean {
  const known = Object.entries(INPUT_TYPES).every(([name, type]) => {
    const value = input[name];
    if (value === undefined) return type.endsWith('?');
    if (type.startsWith('string[]'))
      return Array.isArray(value) && value.every((one) => typeof one === 'string');
    return typeof value === (type.startsWith('number') ? 'number' : 'string');
  });
  return known && Object.keys(input).every((name) => name in INPUT_TYPES);
}

/** The keys that are read, by schema; undefined where the input names no instance but something else. */
function select(
  { reads }: VersionPlan,
  instances: ModelInstances,
  input: JsonObject,
): Map<string, Set<string>> | undefined {
  const selected = new Map<string, Set<string>>();
  for (const { schema, filter } of reads) {
    const keys = selected.get(schema) ?? new Set();
    selected.set(schema, keys);
    const ids =
      filter === undefined
        ? [...instances.keys()]
            .filter((key) => key.startsWith(`${schema}:`))
            .map((key) => key.slice(schema.length + 1))
        : filter.flatMap((path) => input[path] ?? []);
    for (const id of ids) {
      if (typeof id !== 'string' && typeof id !== 'number') return undefined;
      keys.add(`${schema}:${id}`);
    }
  }
  return selected;
}

function run(
  world: ModelWorld,
  plan: VersionPlan,
  instances: ModelInstances,
  input: JsonObject,
  selected: Map<string, Set<string>>,
): Outcome {
  const entities = entitiesOf(world, instances, selected);
  const result = plan.result && { value: evaluate(plan.result, input, entities) };
  const proposed = plan.changes.map((change) => propose(change, input, entities));
  if (new Set(proposed.map(({ key }) => key)).size < proposed.length) fail('template_failed');
  for (const { change } of proposed)
    if (plan.modes !== null && plan.modes[change.schema] === undefined) fail('change_not_allowed');
  const applied = proposed.sort(byKey).map((one) => apply(world, plan, instances, one));
  checkGuards(plan, applied);
  for (const { schema, after } of applied)
    if (after !== null && !isValid(schema, after)) fail('invalid_state');
  if (plan.resultType !== null && typeof result?.value !== plan.resultType) fail('invalid_result');
  return { kind: 'done', ...commit(instances, applied), result };
}

function entitiesOf(
  world: ModelWorld,
  instances: ModelInstances,
  selected: Map<string, Set<string>>,
): Entities {
  const entities: Entities = {};
  for (const [name, keys] of selected) {
    const schema = schemaOf(world, name);
    const loaded: Record<string, JsonObject> = {};
    for (const key of keys) {
      const found = instances.get(key);
      if (found !== undefined) loaded[key.slice(name.length + 1)] = withDefaults(schema, found.state);
    }
    entities[name] = loaded;
  }
  return entities;
}

function schemaOf(world: ModelWorld, name: string) {
  const schema = world.schemas.get(name);
  if (schema === undefined) throw new RangeError(`no schema ${name}`);
  return schema;
}

function evaluate(term: Term, input: JsonObject, entities: Entities): JsonValue {
  switch (term.kind) {
    case 'literal':
      return term.value;
    case 'input':
      return input[term.name] ?? (term.name in input ? null : fail('template_failed'));
    case 'count':
      return Object.keys(entities[term.schema] ?? fail('template_failed')).length;
    case 'read': {
      const loaded = entities[term.schema] ?? fail('template_failed');
      const state = loaded[String(input['id'])] ?? fail('template_failed');
      const value = state[term.attribute];
      if (value === undefined) return fail('template_failed');
      return term.plusN ? sum(value, input['n']) : value;
    }
  }
}

function sum(left: JsonValue, right: JsonValue | undefined): JsonValue {
  if (typeof left === 'string' && typeof right === 'string') return left + right;
  if (Array.isArray(left) && Array.isArray(right)) return [...left, ...right];
  if (typeof left !== 'number' || typeof right !== 'number') return fail('template_failed');
  const total = left + right;
  return Number.isFinite(total) ? total : fail('template_failed');
}

interface Proposed {
  key: string;
  change: ChangePlan;
  /** Evaluated operands. */
  operands: [name: string, operator: AttributeChange['operator'], operand: JsonValue][];
}

function propose(change: ChangePlan, input: JsonObject, entities: Entities): Proposed {
  const given = change.id.startsWith('@') ? input[change.id.slice(1)] : change.id;
  const id = typeof given === 'string' ? given : fail('template_failed');
  const operands = Object.entries(change.remove ? {} : change.attributes).map(
    ([name, { operator, term }]): Proposed['operands'][number] => [
      name,
      operator,
      operator === '$unset' ? true : evaluate(term, input, entities),
    ],
  );
  return { key: `${change.schema}:${id}`, change, operands };
}

/** As RFC 8785 orders members: which of two wrong changes is refused depends on it. */
const byKey = (one: Proposed, other: Proposed): number => (one.key < other.key ? -1 : 1);

interface Applied {
  key: string;
  schema: ReturnType<typeof schemaOf>;
  before: { state: JsonObject; revision: number } | undefined;
  after: JsonObject | null;
  named: Set<string>;
}

function apply(
  world: ModelWorld,
  { modes }: VersionPlan,
  instances: ModelInstances,
  { key, change, operands }: Proposed,
): Applied {
  const schema = schemaOf(world, change.schema);
  const before = instances.get(key);
  const named = new Set(operands.map(([name]) => name));
  if (change.remove) {
    if (before === undefined) fail('change_not_allowed');
    return { key, schema, before, after: null, named };
  }
  const current = withDefaults(schema, before?.state ?? {});
  const mode = modes?.[change.schema] ?? 'partial';
  const after: JsonObject = mode === 'full' ? {} : { ...current };
  for (const [name, operator, operand] of operands) {
    if (operator === 'set') setByMode(after, mode, name, operand, isRequired(schema, name));
    else operate(after, name, operator, operand, current[name] ?? null);
  }
  return { key, schema, before, after: withDefaults(schema, after), named };
}

const isRequired = ({ attributes }: ReturnType<typeof schemaOf>, name: string): boolean =>
  attributes.some((attribute) => attribute.name === name && attribute.constraints.required === true);

function setByMode(after: JsonObject, mode: string, name: string, value: JsonValue, required: boolean): void {
  const before = after[name];
  if (mode !== 'full' && value === null && !required) delete after[name];
  else if (mode !== 'append') after[name] = value;
  else if (Array.isArray(before)) after[name] = before.concat(Array.isArray(value) ? value : [value]);
  else if (isObject(before) && isObject(value)) after[name] = { ...before, ...value };
  else after[name] = value;
}

const isObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function operate(
  after: JsonObject,
  name: string,
  operator: AttributeChange['operator'],
  operand: JsonValue,
  current: JsonValue,
): void {
  if (operator === '$unset') delete after[name];
  else if (operator === '$increment') after[name] = increment(current ?? 0, operand);
  else if (operator === '$append') after[name] = append(current ?? [], operand);
  else if (operator === '$merge') after[name] = merge(current ?? {}, operand);
  else after[name] = operand;
}

function increment(current: JsonValue, operand: JsonValue): number {
  const by = operand === null || operand === true ? 1 : operand;
  if (typeof by !== 'number' || typeof current !== 'number') return fail('operator_type_mismatch');
  const total = current + by;
  return Number.isFinite(total) ? total : fail('operator_type_mismatch');
}

const append = (current: JsonValue, operand: JsonValue): JsonValue =>
  Array.isArray(current)
    ? current.concat(Array.isArray(operand) ? operand : [operand])
    : fail('operator_type_mismatch');

const merge = (current: JsonValue, operand: JsonValue): JsonValue =>
  isObject(current) && isObject(operand) ? { ...current, ...operand } : fail('operator_type_mismatch');

function checkGuards({ guards }: VersionPlan, applied: readonly Applied[]): void {
  const isForbidden = ({ before, after }: Applied) =>
    (after === null && guards.delete === false) || (before === undefined && guards.create === false);
  if (applied.length > (guards.maxInstances ?? applied.length) || applied.some(isForbidden))
    fail('change_not_allowed');
}

function commit(before: ModelInstances, applied: readonly Applied[]) {
  const instances = new Map(before);
  const stateChanges: Record<string, JsonObject | null> = {};
  for (const { key, before, after, named } of applied) {
    const shown = after && (before === undefined ? after : shownDifference(before.state, after, named));
    if (before !== undefined && shown !== null && Object.keys(shown).length === 0) continue;
    stateChanges[key] = shown;
    if (after === null) instances.delete(key);
    else instances.set(key, { state: after, revision: (before?.revision ?? 0) + 1 });
  }
  return { instances, stateChanges };
}
