import {
  childPointer,
  type FieldProblem,
  fieldProblem,
  isJsonObject,
  isPollutingKey,
  type JsonObject,
  type JsonValue,
  MAX_PROBLEMS,
  shownValue,
  toNfc,
  withNfcKeys,
} from '@orrery/contracts';

/**
 * The position of a value in a mutation:
 *
 *   form      { stateChanges, result }
 *   changes   { "horse:H1": change, … }
 *   change    { attribute: value, … } or { "$delete": true }
 *   attribute the attribute's new value, or an operator object
 *   nested    inside an attribute's value
 *   listed    in a list inside a mutation, whose elements bring no operators
 *   free      anywhere else (the result, templates that make no mutation)
 */
export type Position = 'form' | 'changes' | 'change' | 'attribute' | 'nested' | 'listed' | 'free';

const FORM_KEYS: ReadonlySet<string> = new Set(['stateChanges', 'result']);

/** With no keys but `stateChanges` and `result` a mutation has the full form; otherwise it is the bare map of changes. */
export const isMutationForm = (value: JsonValue): boolean =>
  isJsonObject(value) && Object.keys(value).every((key) => FORM_KEYS.has(key));

/** The result that a template writes; undefined where it writes none. */
export const resultOf = (template: JsonObject): JsonValue | undefined =>
  isMutationForm(template) ? template['result'] : undefined;

/** The changes of a mutation or of its template, null where there are none, and the pointer to them. */
export const changesOf = (mutation: JsonObject): { changes: JsonValue; base: string } =>
  isMutationForm(mutation)
    ? { changes: mutation['stateChanges'] ?? null, base: '/stateChanges' }
    : { changes: mutation, base: '' };

export const rootPosition = (mutation: JsonValue): Position =>
  isMutationForm(mutation) ? 'form' : 'changes';

/** Position of the value under `key` of an object at `position`. */
export function childPosition(position: Position, key: string): Position {
  if (position === 'form') return key === 'stateChanges' ? 'changes' : 'free';
  if (position === 'changes') return 'change';
  if (position === 'change') return 'attribute';
  if (position === 'attribute') return key === '$set' ? 'free' : 'nested';
  return position;
}

/** Position of the elements of a list at `position`. */
export const elementPosition = (position: Position): Position => (position === 'free' ? 'free' : 'listed');

/** What an execution proposes: changes by `schema:instanceId`, and its public result. */
interface Mutation {
  stateChanges: Record<string, JsonObject>;
  result: JsonObject | null;
}

type MutationResult = { ok: true; mutation: Mutation } | { ok: false; problems: FieldProblem[] };

/**
 * Reads `{ stateChanges, result }` (either may be absent or null) or the bare map of changes (docs/templates.md).
 * Problems have the codes `invalid_mutation` and `invalid_change_key`.
 */
export function parseMutation(value: JsonValue): MutationResult {
  if (!isJsonObject(value)) return refuse([invalid('', 'A mutation must be an object.')]);
  const { changes, base } = changesOf(value);
  const result = resultOf(value) ?? null;
  const whole = mapProblem(changes, base);
  if (whole !== undefined) return refuse([whole]);
  const problems: FieldProblem[] = [];
  const stateChanges: Record<string, JsonObject> = {};
  for (const [key, change] of Object.entries(changes ?? {})) {
    const pointer = childPointer(base, key);
    const named = isJsonObject(change) ? withNfcKeys(change) : undefined;
    const problem = changeProblem(key, change, pointer);
    if (problem !== undefined) problems.push(problem);
    else if (named === undefined) problems.push(invalid(pointer, REPEATED_ATTRIBUTE));
    else stateChanges[key] = named;
  }
  if (result === null || isJsonObject(result))
    return problems.length > 0 ? refuse(problems) : { ok: true, mutation: { stateChanges, result } };
  return refuse([...problems, invalid('/result', 'The result must be an object.')]);
}

const invalid = (pointer: string, message: string): FieldProblem =>
  fieldProblem(pointer, 'invalid_mutation', message);

const REPEATED_ATTRIBUTE = 'Two attributes of the change have the same name in Unicode normal form NFC.';

/** Whether a placeholder says what a value is; in an evaluated mutation none does. */
type IsOpen = (value: JsonValue) => boolean;
const never: IsOpen = () => false;

/** What is wrong with the whole of the changes, if anything. */
export const mapProblem = (changes: JsonValue, base: string, isOpen = never): FieldProblem | undefined =>
  changes === null || isJsonObject(changes) || isOpen(changes)
    ? undefined
    : invalid(base, 'The member "stateChanges" must be an object.');

/** What is wrong with one change, if anything. */
export function changeProblem(
  key: string,
  change: JsonValue,
  pointer: string,
  isOpen = never,
): FieldProblem | undefined {
  const complaint = isOpen(key) ? undefined : keyComplaint(key);
  if (complaint !== undefined) return fieldProblem(pointer, 'invalid_change_key', complaint);
  return isJsonObject(change) || isOpen(change) ? undefined : invalid(pointer, 'A change must be an object.');
}

/** What is wrong with the key of a change, if anything. */
function keyComplaint(key: string): string | undefined {
  const name = splitChangeKey(key);
  if (name === undefined) return 'The key of a change must be "<schema>:<instanceId>".';
  return isPollutingKey(name.instanceId) ? `The instanceId "${name.instanceId}" is reserved.` : undefined;
}

const refuse = (problems: FieldProblem[]): MutationResult => ({
  ok: false,
  problems: problems.slice(0, MAX_PROBLEMS),
});

/** The two halves of `horse:HORSE_1`, in NFC as names are stored. */
export interface ChangeKey {
  schema: string;
  instanceId: string;
}

/** Splits at the first colon (an instanceId may hold more). Undefined: `invalid_change_key`. */
export function splitChangeKey(key: string): ChangeKey | undefined {
  const colon = key.indexOf(':');
  if (colon < 1 || colon === key.length - 1) return undefined;
  return { schema: toNfc(key.slice(0, colon)), instanceId: toNfc(key.slice(colon + 1)) };
}

/** Operators on one attribute of a change in a direct template (docs/templates.md). */
export const OPERATOR_NAMES = ['$set', '$merge', '$increment', '$append', '$unset'] as const;
type OperatorName = (typeof OPERATOR_NAMES)[number];

/** `{ "$delete": true }` instead of a change removes the instance. */
export const DELETE_OPERATOR = '$delete';

export const isOperatorName = (key: string): key is OperatorName =>
  (OPERATOR_NAMES as readonly string[]).includes(key);

/** An operator in a change: `{ "$increment": 1 }`. */
interface Operator {
  name: OperatorName;
  operand: JsonValue;
}

/**
 * Reads an attribute's value in an evaluated direct mutation: the operator that it is, or undefined for a plain value.
 * `compileTemplate` with `mutation` has made sure that only the template's author can have written one; do not use it
 * on anything else (a model's proposal has no operators).
 */
export function readOperator(value: JsonValue): Operator | undefined {
  if (!isJsonObject(value)) return undefined;
  const [name, ...others] = Object.keys(value);
  if (name === undefined || others.length > 0 || !isOperatorName(name)) return undefined;
  return { name, operand: value[name] ?? null };
}

/** Whether the change is `{ "$delete": true }`, which removes its instance. */
export const isDeletion = (change: JsonObject): boolean =>
  change[DELETE_OPERATOR] === true && Object.keys(change).length === 1;

/** Outcome for the attribute: a new value, or its removal. */
type OperatorOutcome =
  | { ok: true; kind: 'set'; value: JsonValue }
  | { ok: true; kind: 'unset' }
  | { ok: false; code: 'operator_type_mismatch'; message: string };

/**
 * Applies an operator to an attribute's current value; absent and null count alike, as 0, `[]` or `{}`. The current
 * value is not changed.
 */
export function resolveOperator(
  current: JsonValue | undefined,
  { name, operand }: Operator,
): OperatorOutcome {
  return resolvers[name](current ?? undefined, operand);
}

type Resolver = (current: JsonValue | undefined, operand: JsonValue) => OperatorOutcome;

const set = (value: JsonValue): OperatorOutcome => ({ ok: true, kind: 'set', value });
const mismatch = (message: string): OperatorOutcome => ({
  ok: false,
  code: 'operator_type_mismatch',
  message,
});

const resolvers: Readonly<Record<OperatorName, Resolver>> = {
  $set: (_, operand) => set(operand),
  $merge: merge,
  $increment: increment,
  $append: append,
  $unset: (_, operand) =>
    operand === true ? { ok: true, kind: 'unset' } : mismatch('Write the operator as { "$unset": true }.'),
};

/** Shallow: the operand's keys replace those of the current object. */
function merge(current: JsonValue | undefined, operand: JsonValue): OperatorOutcome {
  if (!isJsonObject(operand))
    return mismatch(`The operator $merge takes an object, not ${shownValue(operand)}.`);
  if (current !== undefined && !isJsonObject(current))
    return mismatch(`The operator $merge cannot change ${shownValue(current)}.`);
  return set({ ...current, ...operand });
}

/** The operands `null` and `true` mean 1. */
function increment(current: JsonValue | undefined, operand: JsonValue): OperatorOutcome {
  const by = operand === null || operand === true ? 1 : operand;
  if (typeof by !== 'number')
    return mismatch(`The operator $increment takes a number, not ${shownValue(by)}.`);
  if (current !== undefined && typeof current !== 'number')
    return mismatch(`The operator $increment cannot change ${shownValue(current)}.`);
  const sum = (current ?? 0) + by;
  if (!Number.isFinite(sum)) return mismatch('The operator $increment goes beyond the finite numbers.');
  return set(sum);
}

/** A list is concatenated, anything else becomes one more element. */
function append(current: JsonValue | undefined, operand: JsonValue): OperatorOutcome {
  if (current !== undefined && !Array.isArray(current))
    return mismatch(`The operator $append cannot change ${shownValue(current)}.`);
  return set([...(current ?? []), ...(Array.isArray(operand) ? operand : [operand])]);
}
