import {
  canonicalHash,
  delayProblem,
  durationMs,
  type EntryTimer,
  type ExecutionError,
  type FollowUp,
  findUnsafeJson,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  LEAST_DELAY_MS,
  MOST_DELAY_MS,
  name as nameRule,
  ServiceError,
  sha256Hex,
  shownValue,
  timeMs,
  timeProblem,
  utf8Bytes,
} from '@orrery/contracts';
import {
  type CompiledTemplate,
  compileTemplate,
  type Evaluation,
  evaluateTemplate,
  FOLLOW_UP_NAMES,
} from '@orrery/expressions';
import { templateFailed } from './failed-code.js';

/** A follow-up as its version has it, ready to be evaluated. */
export interface CompiledFollowUp {
  /** Undefined: it is always set. */
  readonly when: CompiledTemplate | undefined;
  /** Its other members. */
  readonly rest: CompiledTemplate;
  /** Whether it draws random numbers. */
  readonly draws: boolean;
}

/** An execution that is to follow. */
export interface PlannedExecution {
  readonly event: string;
  readonly input: JsonObject;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
  /** It has no delay: it is the next item of its deployment. */
  readonly isNext: boolean;
  /** Of which one timer is pending; null: none. */
  readonly key: string | null;
}

/** What a follow-up comes to: an execution, or the key of a timer that is cancelled. */
export type PlannedFollowUp = PlannedExecution | { readonly cancel: string };

/** @throws `invalid_template` for follow-ups that no catalog would have saved */
export const compileFollowUps = (followUps: readonly FollowUp[] = []): readonly CompiledFollowUp[] =>
  followUps.map(({ when: condition, ...others }) => {
    const when = condition === undefined ? undefined : compiled(condition);
    const rest = compiled(others as JsonObject);
    return { when, rest, draws: when?.draws === true || rest.draws };
  });

function compiled(template: JsonValue): CompiledTemplate {
  const found = compileTemplate(template, { names: FOLLOW_UP_NAMES, random: true });
  if (found.ok) return found.template;
  throw new ServiceError('invalid_template', found.problems[0]?.message, { errors: found.problems });
}

/**
 * What the follow-ups of an execution that succeeded come to; those whose condition does not hold are left out.
 * @param scope the values of the template's names, `result` among them
 * @param now milliseconds since the epoch: what the execution was decided at
 * @param inputBytes what an input may have as JSON
 * @param evaluation its draws go on from what the template of the version drew
 * @throws `template_failed`; `invalid_follow_up` with the pointer as a fact
 */
export function planFollowUps(
  followUps: readonly CompiledFollowUp[],
  scope: Readonly<Record<string, JsonValue>>,
  now: number,
  inputBytes: number,
  evaluation: Evaluation = {},
): PlannedFollowUp[] {
  return followUps.flatMap(({ when, rest }, index) => {
    const at = `/followUps/${index}`;
    if (when !== undefined && !isWanted(evaluated(when, scope, `${at}/when`, evaluation), at)) return [];
    // Compiled from an object.
    const planned = planOne(evaluated(rest, scope, at, evaluation) as JsonObject, at, now, inputBytes);
    return planned === undefined ? [] : [planned];
  });
}

function evaluated(
  template: CompiledTemplate,
  scope: Readonly<Record<string, JsonValue>>,
  at: string,
  evaluation: Evaluation,
): JsonValue {
  const found = evaluateTemplate(template, scope, evaluation);
  if (!found.ok) throw templateFailed(found.problem, at);
  const unsafe = findUnsafeJson(found.value);
  if (unsafe === undefined) return found.value;
  throw invalid(`${at}${unsafe.pointer}`, unsafe.message);
}

const invalid = (pointer: string, reason: string): ServiceError =>
  new ServiceError('invalid_follow_up', `${pointer}: ${reason}`, { facts: { pointer, reason } });

function isWanted(value: JsonValue, at: string): boolean {
  if (typeof value === 'boolean') return value;
  if (value === null) return false;
  throw invalid(`${at}/when`, 'The condition must be true, false or null.');
}

/** Undefined: nothing is to be cancelled. */
function planOne(
  { event, input = {}, after, at: time, key, cancel }: JsonObject,
  at: string,
  now: number,
  inputBytes: number,
): PlannedFollowUp | undefined {
  if (cancel !== undefined) {
    const cancelled = keyOf(cancel, `${at}/cancel`);
    return cancelled === null ? undefined : { cancel: cancelled };
  }
  if (!isJsonObject(input))
    throw invalid(`${at}/input`, `The input must be an object, not ${shownValue(input)}.`);
  if (utf8Bytes(JSON.stringify(input)) > inputBytes)
    throw invalid(`${at}/input`, `${INPUT_TOO_LARGE} ${inputBytes} bytes as JSON.`);
  const due = dueOf(after, time, at, now);
  return { event: String(event), input, ...due, key: key === undefined ? null : keyOf(key, `${at}/key`) };
}

const INPUT_TOO_LARGE = 'The input may have at most';

/** Whether an execution failed at the operator's limit of an input. Earlier releases said this of other values too. */
export const isFollowUpTooLarge = ({ code, facts }: ExecutionError): boolean =>
  code === 'invalid_follow_up' && String(facts?.['reason']).startsWith(INPUT_TOO_LARGE);

/** Null is no key; a number is taken as text. */
function keyOf(value: JsonValue, pointer: string): string | null {
  if (value === null) return null;
  const read = nameRule.safeParse(typeof value === 'number' ? String(value) : value);
  if (read.success) return read.data;
  throw invalid(pointer, read.error.issues[0]?.message ?? 'The key is not valid.');
}

/** A delay that is too short, and a time that is past or too near, become the least delay. */
function dueOf(
  after: JsonValue | undefined,
  time: JsonValue | undefined,
  at: string,
  now: number,
): Pick<PlannedExecution, 'dueAt' | 'isNext'> {
  if (time !== undefined) {
    const ms = typeof time === 'string' ? timeMs(time) : undefined;
    if (ms === undefined) throw invalid(`${at}/at`, timeProblem('') ?? '');
    return { dueAt: withinBounds(ms - now, `${at}/at`) + now, isNext: false };
  }
  const ms = after === undefined ? 0 : typeof after === 'string' ? durationMs(after) : undefined;
  if (ms === undefined) throw invalid(`${at}/after`, delayProblem('') ?? '');
  return ms === 0
    ? { dueAt: now, isNext: true }
    : { dueAt: withinBounds(ms, `${at}/after`) + now, isNext: false };
}

function withinBounds(ms: number, pointer: string): number {
  if (ms > MOST_DELAY_MS) throw invalid(pointer, 'A timer waits at most 3,650 days.');
  return Math.max(LEAST_DELAY_MS, ms);
}

/**
 * The id of the timer that an entry sets at a position: computed from the entry's id, so that who computes the entry again
 * gets the same. It is a UUID of version 8 (RFC 9562), with the entry's time.
 */
export function timerIdOf(entryId: string, index: number): string {
  const digits = sha256Hex(`${entryId}/${index}`);
  return `${entryId.slice(0, 14)}8${digits.slice(0, 3)}-8${digits.slice(3, 6)}-${digits.slice(6, 18)}`;
}

/** What an entry says of its follow-ups. */
export const recordTimers = (entryId: string, planned: readonly PlannedFollowUp[]): EntryTimer[] =>
  planned.map((one, index) =>
    'cancel' in one
      ? { id: null, event: null, dueAt: null, key: one.cancel, inputHash: null }
      : {
          id: timerIdOf(entryId, index),
          event: one.event,
          dueAt: new Date(one.dueAt).toISOString(),
          key: one.key,
          inputHash: canonicalHash(one.input),
        },
  );
