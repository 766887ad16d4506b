import {
  type FieldProblem,
  fieldProblem,
  type InstanceChange,
  type JsonObject,
  type JsonValue,
  ServiceError,
  toPointer,
} from '@orrery/contracts';
import {
  type CheckedChange,
  type CheckedChanges,
  changeKey,
  differenceOf,
  journalled,
} from '../journal/change.js';
import type { AppliedChange } from './apply-changes.js';
import { jsonBytes } from './json-bytes.js';

/** Bytes of an instance's state as JSON (decisions §8). */
export const MAX_STATE_BYTES = 64 * 1024;
/** Bytes of a journal entry's input, changes and result as JSON (decisions §8). */
export const MAX_ENTRY_BYTES = 256 * 1024;

const brand = (changes: CheckedChange[]): CheckedChanges => changes as unknown as CheckedChanges;

/** Of a failed execution, or of an entry that touches no instance. */
export const noChanges = (): CheckedChanges => brand([]);

/**
 * Every touched instance satisfies its schema, or `invalid_state` names what does not. An update that sets and removes
 * nothing is no change, unless `keepIdle`.
 */
export function checkStates(applied: readonly AppliedChange[], { keepIdle = false } = {}): CheckedChanges {
  const problems: FieldProblem[] = [];
  for (const change of applied) problems.push(...problemsOf(change));
  const [first] = problems;
  if (first !== undefined) {
    throw new ServiceError('invalid_state', `${first.pointer}: ${first.message}`, {
      errors: problems.slice(0, MAX_PROBLEMS),
      facts: { problems: problems.slice(0, MAX_PROBLEMS).map((problem) => ({ ...problem })) },
    });
  }
  return brand(applied.map(changeOf).filter((change) => keepIdle || !isIdle(change)));
}

/** At most this many problems are named. */
const MAX_PROBLEMS = 20;

function problemsOf(change: AppliedChange): FieldProblem[] {
  if (change.after === null) return NOTHING;
  if (jsonBytes(change.after, MAX_STATE_BYTES) > MAX_STATE_BYTES) {
    return [fieldProblem(pointerTo(change), 'too_large', `a state is at most ${MAX_STATE_BYTES / 1024} KiB`)];
  }
  const problems = change.schema.problemsOf(change.after);
  if (problems.length === 0) return NOTHING;
  const at = pointerTo(change);
  return problems.map(({ pointer, code, message }) => fieldProblem(`${at}${pointer}`, code, message));
}

const NOTHING: FieldProblem[] = [];
const pointerTo = (change: AppliedChange): string => toPointer([changeKey(change)]);

function changeOf({ entitySchema, instanceId, before, after, named }: AppliedChange): CheckedChange {
  const revision = (before?.revision ?? 0) + 1;
  const made = (op: InstanceChange['op'], set: JsonObject, unset: string[]): CheckedChange => ({
    entitySchema,
    instanceId,
    op,
    set,
    unset,
    revision,
    state: after,
  });
  if (after === null) return made('delete', {}, []);
  if (before === null) return made('create', after, []);
  const { set, unset } = differenceOf(before.state, after, named);
  return made('update', set, unset);
}

const isIdle = ({ op, set, unset }: CheckedChange): boolean =>
  op === 'update' && unset.length === 0 && Object.keys(set).length === 0;

/** Refuses `change_too_large` when the entry would exceed 256 KiB. */
export function checkEntrySize(input: JsonObject, changes: CheckedChanges, result: JsonValue): void {
  const bytes = jsonBytes([input, changes.map(journalled) as unknown as JsonValue, result], MAX_ENTRY_BYTES);
  if (bytes <= MAX_ENTRY_BYTES) return;
  throw new ServiceError('change_too_large', `an entry is at most ${MAX_ENTRY_BYTES / 1024} KiB`, {
    facts: { limit: MAX_ENTRY_BYTES, bytes },
  });
}
