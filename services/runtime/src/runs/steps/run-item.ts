import {
  asServiceError,
  type ErrorCode,
  type JsonObject,
  type JsonValue,
  type ServiceError,
  toErrorReply,
} from '@orrery/contracts';
import { changeKey, type Execution, LLM_TEXTS, type Recalled, type Success } from '@orrery/deciding';
import { monotonicOf } from '@orrery/service-kit';
import type { Payment } from '../../core/payments/payment.js';
import { withoutAmounts } from '../../core/prompting/grant.js';
import { type DeciderAnswer, type Evidence, evidenceOf } from '../../core/prompting/model.js';
import { endOfKeys } from '../../lane/items/once-item.js';
import type { ItemOutcome, WorkItem } from '../../lane/items/work-item.js';
import type { Effects, KeyedEffect, PaymentEffect, RunEffect } from '../../store/commit/effects.js';
import {
  acceptedAnswer,
  endOf,
  isPaid,
  paymentOf,
  type RunRow,
  requestOf,
  timerOf,
} from '../../store/runs/run-store.js';
import type { DeploymentState, Holds, OpenRun } from '../../store/state/deployment-state.js';
import { watchedAt } from '../payments/reconcile.js';
import type { Settlement } from '../payments/settle-payment.js';
import { type EntryDetails, withRefundDue } from '../requests/conclude.js';
import { failedTimer } from '../requests/failed-timer.js';
import {
  type Briefing,
  briefingOf,
  type Confirmed,
  confirmVersion,
  executionOf,
  type Resolved,
  resolveEvent,
  withTexts,
} from '../requests/resolve-event.js';
import type { RunDependencies } from '../requests/run-dependencies.js';
import type { ReadFingerprint } from './read-fingerprint.js';
import { type KnownRound, sourceOf } from './run-randomness.js';
import { failedAfterStaging } from './staged-outcome.js';

/** A step that is to be taken: a run as its row has it, and what takes it to its next state. */
export interface Step extends RunDependencies {
  readonly row: RunRow;
  readonly signal: AbortSignal;
  readonly drive: Drive;
}

/** What the process remembers while it drives a run from step to step. */
export interface Drive extends KnownRound {
  /** Times that the current step has failed, not counting what may pass by itself. */
  failures: number;
  /** The decider's answer and its fingerprint. Until it is stored, the decider is not called again for that fingerprint. */
  given?: {
    readonly fingerprint: ReadFingerprint;
    readonly answer: DeciderAnswer;
    readonly told: Recalled | undefined;
  };
  /** Of what the decider was last given of the journal. */
  readHistoryHash?: string | undefined;
  /** How the settlement of its payment ended, until that is stored. */
  settlement?: Settlement | undefined;
  /** Times that this process has asked for the outcome of its payment; undefined until it has settled or asked. */
  looks?: number;
  ending?: Ending;
}

/** Why a run ends without an outcome of its own. */
export interface Ending {
  readonly reason: ServiceError;
  /** What the decision that failed has cost. */
  readonly evidence?: Evidence;
  /** The run has read, so it leaves a failed entry. A run that called its decider has always read. */
  readonly hasRead?: boolean;
}

/** The evidence of all decisions of a run, in their order. The answer of the last one may wait to be applied. */
export function evidenceOfRun({
  state,
  evidence,
  proposal,
}: Pick<RunRow, 'state' | 'evidence' | 'proposal'>): Evidence[] {
  // Both were written by the steps of the run.
  const earlier = (evidence ?? []) as unknown as Evidence[];
  return state === 'decided' || state === 'paid_decided'
    ? withEvidence(earlier, proposal as Partial<Evidence> | null)
    : earlier;
}

/** Adds what a decision has left, if anything. */
export function withEvidence(earlier: Evidence[], added: Partial<Evidence> | null): Evidence[] {
  const evidence = evidenceOf(added ?? {});
  const isEmpty = Object.values(evidence).every((part) => part === null);
  return isEmpty ? earlier : [...earlier, evidence];
}

/**
 * What the entry of a run records: the evidence of the last decision, and in `llm.earlier` what the ones before it cost,
 * without their texts.
 */
export function entryEvidence(all: readonly Evidence[]): Evidence | undefined {
  const last = all.at(-1);
  const earlier = all.slice(0, -1).flatMap(({ llm }) => (llm === null ? [] : [withoutTexts(llm)]));
  return last === undefined || earlier.length === 0 ? last : { ...last, llm: { ...last.llm, earlier } };
}

const withoutTexts = (llm: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(llm).filter(([member]) => !LLM_TEXTS.includes(member)));

/** A run and what it executes now, in the current state of its deployment. */
export interface StepContext {
  readonly row: RunRow;
  readonly open: OpenRun;
  readonly resolved: Resolved;
  readonly state: DeploymentState;
  readonly execution: Execution;
  /** For a decider; 'prepare' when the world's texts have not been confirmed. */
  readonly briefing: Briefing | 'prepare';
  readonly details: EntryDetails;
  readonly now: number;
}

/** The answer for a run that has ended meanwhile, or that is ended by something else. */
export const NOTHING = { kind: 'answer', answer: undefined } as const;

/** An item of the deployment's lane that decides about a run, and answers `undefined` for one that has ended meanwhile. */
export const openItem = <T>(
  { row, signal }: Step,
  deadline: number,
  decide: (open: OpenRun, state: DeploymentState, now: number) => ItemOutcome<T>,
): WorkItem<T | undefined> => ({
  deploymentId: row.deployment_id,
  deadline,
  signal,
  prepare: () => undefined,
  decide: (state, _ids, now) => {
    const open = state.runs.get(row.id);
    return open === undefined ? NOTHING : decide(open, state, now);
  },
});

/** The same for what the run executes, with the run's deadline. It ends a run that may not be executed any more. */
export function runItem<T>(
  step: Step,
  decide: (context: StepContext) => ItemOutcome<T>,
): WorkItem<T | undefined> {
  const { row, catalog, limits, models, clock } = step;
  const { expected = null, ...asked } = requestOf(row);
  const request = { ...asked, deploymentId: row.deployment_id, expected };
  let confirmed: Confirmed | undefined;
  const item = openItem<T | undefined>(step, monotonicOf(clock, endOf(row)), (open, state, now) => {
    // Until its settlement is known a run is ended by that alone.
    if (open.staged || row.state === 'awaiting_payment') return NOTHING;
    try {
      const resolved = resolveEvent(state, request, confirmed);
      if (resolved === 'prepare') return { kind: 'prepare' };
      const randomness = sourceOf(step, state, resolved);
      if (randomness === 'beacon') return NOTHING;
      const undecided = executionOf(resolved, state, request, asked, limits, now, randomness);
      const execution = withMemory(undecided, step);
      const briefing = briefingOf(state, confirmed, models, request.replay);
      const evidence = entryEvidence(evidenceOfRun(row));
      const elapsed = () => Math.max(0, now - row.created_at.getTime());
      const payment = { paymentKey: paymentOf(row)?.key, isPaid: isPaid(row) };
      const details = { elapsed, evidence, ...payment, state, timer: timerOf(row) };
      return decide({ row, open, resolved, state, execution, briefing, details, now });
    } catch (error) {
      return refuseRun(row, asServiceError(error), now);
    }
  });
  const prepare = async (state: DeploymentState) => {
    confirmed = await withTexts(catalog, state, await confirmVersion(catalog, state, request));
  };
  return { ...item, prepare };
}

/** An execution that a decider decides records what the decider was given of the journal. */
function withMemory(execution: Execution, { row, drive }: Step): Execution {
  const readHistoryHash = row.basis?.['readHistoryHash'] ?? drive.readHistoryHash;
  if (typeof readHistoryHash !== 'string' || execution.definition.mutation !== 'ai') return execution;
  return { ...execution, recorded: { ...execution.recorded, readHistoryHash } };
}

/** Commits columns of the run's row; the run stays open. */
export const updateRun = <T>(
  { id }: RunRow,
  open: OpenRun,
  update: Extract<RunEffect['write'], { update: unknown }>['update'],
  reply: T,
): Extract<ItemOutcome<T>, { kind: 'record' }> => ({
  kind: 'record',
  run: { id, open, write: { update } },
  settlement: { reply },
});

type PaymentColumns = Omit<Extract<PaymentEffect, { kind: 'update' }>['columns'], 'updated_at'>;

export const paymentUpdate = ({ key }: Payment, columns: PaymentColumns, now: number): PaymentEffect => ({
  kind: 'update',
  key,
  columns: { ...columns, updated_at: new Date(now) },
});

/**
 * Ends the run together with the outcome: its entry and the end of its row are one commit. `evidence` is that of all its
 * decisions. `paid` are the columns of its payment: by default the run has failed, so that it is released, or, if it is
 * charged, due for a refund.
 */
export function endRun<T>(
  row: RunRow,
  outcome: ItemOutcome<T>,
  now: number,
  evidence = evidenceOfRun(row),
  paid = paymentOfFailed(row),
): ItemOutcome<T> {
  if (outcome.kind === 'refuse') return refuseRun(row, outcome.error, now, evidence);
  if (outcome.kind !== 'commit') return outcome;
  const key = keyOf(row);
  const update = { ended_at: new Date(now), staged: null, ...evidenceColumn(evidence) };
  const payment = paymentOf(row);
  const timers = endedTimer(row, outcome.effects.timers);
  const ended: Partial<Effects> = {
    run: { id: row.id, open: null, write: { update } },
    ...onceKeysOf(row, 'end', now),
    ...(key && { key }),
    ...(payment && { payment: paymentUpdate(payment, paid, now) }),
    ...(timers && { timers }),
  };
  return { ...outcome, effects: { ...outcome.effects, ...ended } };
}

/** Of one that we have not charged others may have seen the authorization: it is looked up once nobody can use it any more. */
function paymentOfFailed(row: RunRow): PaymentColumns {
  if (isPaid(row)) return { status: 'refund_due', reason: 'execution_failed' };
  const payment = paymentOf(row);
  return { status: 'released', check_at: payment === undefined ? null : watchedAt(payment) };
}

/** What a run does to timers: the one that it executes is gone with its entry. */
function endedTimer(row: RunRow, set: Effects['timers']): Effects['timers'] {
  const timer = timerOf(row);
  if (timer === undefined) return set;
  const { id, key, tree } = timer;
  const nothing = { planned: [], caller: requestOf(row).caller, depth: timer.depth };
  return { ...(set ?? nothing), ended: { id, key, tree, runId: row.id } };
}

/** What passes by itself: a timer whose run meets it was not executed, so it is pending again. */
const GIVES_BACK: ReadonlySet<ErrorCode> = new Set(['deployment_paused', 'too_many_waiting']);

/**
 * Ends a run that has read nothing: only its row records the error, and its keys are free again. One whose payment is
 * charged leaves a failed entry, so that its owner sees what has to be returned.
 */
export function refuseRun<T>(
  row: RunRow,
  reason: ServiceError,
  now: number,
  evidence = evidenceOfRun(row),
): ItemOutcome<T> {
  const error = withoutAmounts(reason);
  if (isPaid(row))
    return endRun<never>(row, failedAfterStaging(row, withRefundDue(error), now), now, evidence);
  const timer = timerOf(row);
  if (timer !== undefined && !GIVES_BACK.has(error.code))
    return endRun<never>(row, failedTimer(requestOf(row), timer, error, now), now, evidence);
  const payment = paymentOf(row);
  const update = {
    ended_at: new Date(now),
    state: 'failed' as const,
    error: toErrorReply(error) as JsonObject,
    ...evidenceColumn(evidence),
  };
  return {
    kind: 'record',
    run: { id: row.id, open: null, write: { update } },
    ...onceKeysOf(row, 'release', now),
    // A payment whose run has read nothing may be used again.
    ...(payment && { payment: { kind: 'release', key: payment.key } }),
    ...(timer && { timer: { timer, runId: row.id, isTaken: false, dueAt: timer.dueAt } }),
    settlement: { error },
  };
}

function onceKeysOf(row: RunRow, kind: 'end' | 'release', now: number): Pick<Effects, 'onceKeys'> {
  const { onceKeys } = requestOf(row);
  return onceKeys === undefined ? {} : { onceKeys: endOfKeys(onceKeys, kind, now) };
}

/** The column stays null while no decision has left anything. */
export const evidenceColumn = (evidence: readonly Evidence[]): { evidence?: JsonValue } =>
  evidence.length === 0 ? {} : { evidence: evidence as unknown as JsonValue };

function keyOf(row: RunRow): KeyedEffect | undefined {
  const { account_id: accountId, operation, key, request_hash: requestHash } = row;
  if (accountId === null || operation === null || key === null) return undefined;
  const keyed = { accountId, operation, key, requestHash };
  return requestOf(row).asynchronous ? { ...keyed, answer: { ...acceptedAnswer(row.id) } } : keyed;
}

/** What must not change so that a decision on it stays fresh. */
export const holdsOf = ({ reads, wholeSchemas }: Pick<Success, 'reads' | 'wholeSchemas'>): Holds => ({
  instances: reads.filter(({ entitySchema }) => !wholeSchemas.includes(entitySchema)).map(changeKey),
  schemas: [...wholeSchemas],
});
