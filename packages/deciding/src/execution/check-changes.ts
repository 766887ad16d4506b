import {
  didYouMean,
  EVALUATOR,
  type Evaluator,
  type ExecutionError,
  type FieldProblem,
  fieldProblem,
  findUnsafeJson,
  type Guards,
  type InstanceChange,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  MAX_PROBLEMS,
  ServiceError,
  toPointer,
  utf8Bytes,
} from '@orrery/contracts';
import type { PatternWork } from '@orrery/expressions';
import {
  type CheckedChange,
  type CheckedChanges,
  changeKey,
  differenceOf,
  type InstanceName,
  journalled,
  sameJson,
} from '../entries/entry.js';
import type { AppliedChange, CompiledDefinition, ExecutionLimits, ReadSet, Told } from './execution.js';

const TEXTS = {
  schema: ({ entitySchema }, { known = [] }) =>
    `The version's stateChanges does not name "${entitySchema}", so this event may not change instances of it.` +
    didYouMean(entitySchema, known),
  no_schema: ({ entitySchema }, { known = [] }) =>
    `The world has no entity schema "${entitySchema}".${didYouMean(entitySchema, known)}`,
  absent: (name) => `There is no instance ${changeKey(name)} to delete.`,
  not_loaded: (name) =>
    `${changeKey(name)} exists and was not read. A model may change what the version's readEntities loads.`,
  delete: (name) =>
    `This event may not delete ${changeKey(name)}: that takes "delete": true in the version's guards.`,
  create: (name) =>
    `There is no instance ${changeKey(name)}, and this version may change existing instances only: its guards say "create": false. ` +
    'Name an instance that exists, or create it first.',
  deny: (name, { attribute }) => `This event may not change "${attribute}" of ${changeKey(name)}.`,
  maxDelta: (name, { attribute, limit }) =>
    `This event may change "${attribute}" by at most ${limit} in ${changeKey(name)}.`,
} as const satisfies Record<string, (name: InstanceName, facts: Facts) => string>;

interface Facts {
  /** The attribute that a guard is about. */
  readonly attribute?: string;
  readonly limit?: number;
  /** Schemas that the version may change. */
  readonly known?: readonly string[];
}

/** A change of one instance that the version's mode map or guards do not allow. */
export function changeNotAllowed(
  reason: keyof typeof TEXTS,
  name: InstanceName,
  facts: Facts = {},
): ServiceError {
  const text: (name: InstanceName, facts: Facts) => string = TEXTS[reason];
  const { known: _, ...shown } = facts;
  return new ServiceError('change_not_allowed', text(name, facts), {
    facts: { key: changeKey(name), reason, ...shown },
  });
}

const tooManyChanged = (limit: number, changes: number): ServiceError =>
  new ServiceError('change_not_allowed', `This event may change at most ${limit} instances.`, {
    facts: { reason: 'maxInstances', limit, changes },
  });

/** What the patterns of all states of an execution may do: about 60 ms at worst. */
const MAX_PATTERN_WORK = 4_000_000;

const brand = (changes: CheckedChange[]): CheckedChanges => changes as unknown as CheckedChanges;

/** The changes of a failed execution, or of an entry that touches no instance. */
export const noChanges = (): CheckedChanges => brand([]);

interface CheckOptions extends Partial<Told> {
  readonly keepIdle?: boolean;
}

/**
 * Checks that every touched instance satisfies its schema. An update that sets and removes nothing is dropped, unless
 * `keepIdle`. @throws `invalid_state` with the first 20 problems
 */
export function checkStates(
  applied: readonly AppliedChange[],
  { stateBytes }: Pick<ExecutionLimits, 'stateBytes'>,
  { keepIdle = false, showsValues = true, evaluator = EVALUATOR }: CheckOptions = {},
): CheckedChanges {
  const problems: FieldProblem[] = [];
  const patterns: PatternWork = { left: MAX_PATTERN_WORK };
  for (const change of applied) {
    problems.push(...problemsOf(change, patterns, stateBytes, { showsValues }));
    if (problems.length >= MAX_PROBLEMS) break;
  }
  const [first] = problems;
  if (first !== undefined) {
    throw new ServiceError('invalid_state', `${first.pointer}: ${first.message}`, {
      errors: problems.slice(0, MAX_PROBLEMS),
      facts: { problems: problems.slice(0, MAX_PROBLEMS).map((problem) => ({ ...problem })) },
    });
  }
  return brand(
    applied.map((change) => changeOf(change, evaluator)).filter((change) => keepIdle || !isIdle(change)),
  );
}

function problemsOf(
  change: AppliedChange,
  patterns: PatternWork,
  maxBytes: number,
  told: Told,
): FieldProblem[] {
  if (change.after === null) return NOTHING;
  if (jsonBytes(change.after, maxBytes) > maxBytes) return [stateTooLarge(pointerTo(change), maxBytes)];
  const problems = change.schema.problemsOf(change.after, patterns, told);
  if (problems.length === 0) return NOTHING;
  const at = pointerTo(change);
  return problems.map((problem) => ({ ...problem, pointer: `${at}${problem.pointer}` }));
}

export const stateTooLarge = (pointer: string, maxBytes: number): FieldProblem =>
  fieldProblem(pointer, 'too_large', `A state has at most ${maxBytes / 1024} KiB.`);

/** Whether an execution failed at the operator's limit of a state. An entry leaves out facts that are too large. */
export const isStateTooLarge = ({ code, detail, facts }: ExecutionError): boolean => {
  const problems = facts?.['problems'];
  if (code !== 'invalid_state') return false;
  return Array.isArray(problems)
    ? problems.some((problem) => isJsonObject(problem) && problem['code'] === 'too_large')
    : /: A state has at most [\d.]+ KiB\.$/.test(detail);
};

const NOTHING: FieldProblem[] = [];
const pointerTo = (change: AppliedChange): string => toPointer([changeKey(change)]);

function changeOf(
  { entitySchema, instanceId, before, after, named }: AppliedChange,
  evaluator: Evaluator,
): CheckedChange {
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
  return made('update', set, evaluator === 1 ? unset : unset.sort());
}

const isIdle = ({ op, set, unset }: CheckedChange): boolean =>
  op === 'update' && unset.length === 0 && Object.keys(set).length === 0;

/** @throws `change_too_large` when the entry would exceed its limit */
export function checkEntrySize(
  input: JsonObject,
  changes: CheckedChanges,
  result: JsonValue,
  { entryBytes: limit }: Pick<ExecutionLimits, 'entryBytes'>,
): void {
  const bytes = jsonBytes([input, changes.map(journalled) as unknown as JsonValue, result], limit);
  if (bytes <= limit) return;
  throw new ServiceError('change_too_large', `An entry has at most ${limit / 1024} KiB.`, {
    facts: { limit, bytes },
  });
}

/** A model may change instances that it was shown, and create new ones. @throws `change_not_allowed` */
export function refuseUnloaded(changes: readonly AppliedChange[], reads: ReadSet['reads']): void {
  const loaded = new Set(reads.map(changeKey));
  for (const change of changes) {
    if (change.before === null || loaded.has(changeKey(change))) continue;
    throw changeNotAllowed('not_loaded', change);
  }
}

/** What has made a proposal. */
export type Proposer = 'template' | 'model';

/**
 * Checks a version's guards. Creating is allowed unless `create` is false. A template may delete unless `delete` is
 * false; a model may delete only where `delete` is true. @throws `change_not_allowed`
 */
export function checkGuards(guards: Guards, from: Proposer, changes: readonly AppliedChange[]): void {
  if (guards.maxInstances !== undefined && changes.length > guards.maxInstances) {
    throw tooManyChanged(guards.maxInstances, changes.length);
  }
  for (const change of changes) checkOne(guards, from, change);
}

function checkOne(guards: Guards, from: Proposer, change: AppliedChange): void {
  const mayDelete = guards.delete ?? from === 'template';
  if (change.after === null && !mayDelete) throw changeNotAllowed('delete', change);
  if (change.before === null && guards.create === false) throw changeNotAllowed('create', change);
  if (change.after === null) return;
  const before = change.schema.withDefaults(change.before?.state ?? {});
  for (const attribute of guards.deny ?? []) refuseDenied(change, before, attribute);
  if (change.before === null) return;
  if (guards.maxDelta !== undefined) refuseLeaps(change, before, guards.maxDelta);
}

/** A new instance's denied attribute may hold its default, nothing else. */
function refuseDenied(change: AppliedChange, before: JsonObject, attribute: string): void {
  if (sameJson(before[attribute], change.after?.[attribute])) return;
  throw changeNotAllowed('deny', change, { attribute });
}

/** Goes through the attributes, not through the limits, which a version may have many of. */
function refuseLeaps(change: AppliedChange, before: JsonObject, limits: Record<string, number>): void {
  for (const attribute of new Set([...Object.keys(before), ...Object.keys(change.after ?? {})])) {
    const limit = Object.hasOwn(limits, attribute) ? limits[attribute] : undefined;
    if (limit !== undefined) refuseLeap(change, before, attribute, limit);
  }
}

/** A value that is no number counts as 0, so that removing a number and setting it again is bounded too. */
function refuseLeap(change: AppliedChange, before: JsonObject, attribute: string, limit: number): void {
  const delta = Math.abs(numberOf(change.after?.[attribute]) - numberOf(before[attribute]));
  if (delta <= limit) return;
  throw changeNotAllowed('maxDelta', change, { attribute, limit });
}

const numberOf = (value: JsonValue | undefined): number => (typeof value === 'number' ? value : 0);

/** @throws `invalid_result` for a result that breaks the version's `outputSchema` or is no safe JSON */
export function checkResult(
  definition: CompiledDefinition,
  result: JsonObject | null,
  told: Told = { showsValues: true },
): void {
  const unsafe = findUnsafeJson(result);
  const problems = unsafe === undefined ? definition.problemsOfResult(result, told) : [unsafe];
  const [first] = problems;
  if (first === undefined) return;
  throw new ServiceError('invalid_result', `${first.pointer || 'result'}: ${first.message}`, {
    errors: problems,
    facts: { problems: problems.map((problem) => ({ ...problem })) },
  });
}

const GROWTH = { create: 1, update: 0, delete: -1 };

/** @throws `limit_reached` when the changes leave a deployment with more instances than it had and than it may have */
export function checkInstanceCount(
  changes: CheckedChanges,
  { before, limit }: { readonly before: number; readonly limit: number },
): void {
  const after = changes.reduce((sum, { op }) => sum + GROWTH[op], before);
  if (after > limit && after > before) throw tooManyInstances(limit);
}

export const tooManyInstances = (limit: number): ServiceError =>
  new ServiceError('limit_reached', `A deployment has at most ${limit} instances.`, { facts: { limit } });

/** UTF-8 bytes of a value's JSON: exact where they come near the limit, otherwise an upper bound. */
export function jsonBytes(value: JsonValue, limit: number): number {
  const most = mostBytes(value);
  return most <= limit ? most : utf8Bytes(JSON.stringify(value));
}

/** An escaped UTF-16 unit, as in `\\u0007`. */
const MOST_PER_UNIT = 6;
/** More than any number, `true`, `false` and `null`. */
const MOST_PER_SCALAR = 25;

/** An upper bound, computed in a sixth of the time that writing the JSON takes. */
function mostBytes(value: JsonValue): number {
  if (typeof value === 'string') return 2 + MOST_PER_UNIT * value.length;
  if (typeof value !== 'object' || value === null) return MOST_PER_SCALAR;
  let most = 2;
  if (Array.isArray(value)) for (const element of value) most += 1 + mostBytes(element);
  else
    for (const key of Object.keys(value))
      most += 4 + MOST_PER_UNIT * key.length + mostBytes(value[key] ?? null);
  return most;
}
