import { isJsonObject, type JsonValue, shownValue } from '@orrery/contracts';
import type { Operator, OperatorName } from './mutation.js';

/** Outcome for the attribute: a new value, or its removal. */
export type OperatorOutcome =
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
