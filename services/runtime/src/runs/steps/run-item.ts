import {
  asServiceError,
  type JsonObject,
  type JsonValue,
  type ServiceError,
  toErrorReply,
  type WorldTexts,
} from '@orrery/contracts';
import { monotonicOf } from '@orrery/service-kit';
import type { Execution } from '../../core/deciding/execution.js';
import { LLM_TEXTS } from '../../core/entries/entry.js';
import { type DeciderAnswer, type Evidence, evidenceOf } from '../../core/models/model.js';
import type { Payment } from '../../core/payments/payment.js';
import { endOfKeys } from '../../lane/items/once-item.js';
import type { ItemOutcome, WorkItem } from '../../lane/items/work-item.js';
import type { OutsideWork } from '../../lane/ownership/outside-work.js';
import type { Effects, KeyedEffect, PaymentEffect, RunEffect } from '../../store/commit/batch.js';
import {
  acceptedAnswer,
  endOf,
  isPaid,
  paymentOf,
  type RunRow,
  requestOf,
} from '../../store/runs/run-store.js';
import type { DeploymentState, OpenRun } from '../../store/state/deployment-state.js';
import type { Settlement } from '../payments/settle-payment.js';
import { type EntryDetails, withRefundDue } from '../requests/conclude.js';
import type { ReadFingerprint } from '../requests/decider-request.js';
import {
  type Briefing,
  briefingOf,
  type Confirmed,
  confirmTexts,
  confirmVersion,
  executionOf,
  executionRequestOf,
  type Resolved,
  type RunDependencies,
  resolveEvent,
} from '../requests/resolve-event.js';
import { failedAfterStaging } from './staged-outcome.js';

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

/**
 * One step of a run as an item of its deployment's lane, with the run's deadline. It ends a run that may not be executed
 * any more, and answers `undefined` for one that has ended meanwhile.
 */
export function runItem<T>(
  { catalog, limits, models, clock }: RunDependencies,
  row: RunRow,
  signal: AbortSignal,
  decide: (context: StepContext) => ItemOutcome<T>,
): WorkItem<T | undefined> {
  const request = executionRequestOf(row);
  let confirmed: Confirmed;
  let texts: WorldTexts | undefined;
  return {
    deploymentId: row.deployment_id,
    deadline: monotonicOf(clock, endOf(row)),
    signal,
    prepare: async (state) => {
      confirmed = await confirmVersion(catalog, state, request.event);
      texts = await confirmTexts(catalog, state, confirmed);
    },
    decide: (state, _ids, now) => {
      const open = state.runs.get(row.id);
      // Until its settlement is known a run is ended by that alone.
      if (open === undefined || open.staged || row.state === 'awaiting_payment')
        return { kind: 'answer', answer: undefined };
      try {
        const resolved = resolveEvent(state, request, confirmed);
        if (resolved === 'prepare') return { kind: 'prepare' };
        const execution = executionOf(resolved, state, request, requestOf(row), limits, now);
        const briefing = briefingOf(state, texts, models);
        const evidence = entryEvidence(evidenceOfRun(row));
        const paymentKey = paymentOf(row)?.key;
        const elapsed = () => now - row.created_at.getTime();
        const details = { elapsed, evidence, paymentKey, isPaid: isPaid(row) };
        return decide({ row, open, resolved, state, execution, briefing, details, now });
      } catch (error) {
        return refuseRun(row, asServiceError(error), now);
      }
    },
  };
}

type PaidColumns = Extract<PaymentEffect, { kind: 'update' }>['columns'];

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
  paid: PaidColumns = isPaid(row) ? refundDue(now) : { status: 'released', updated_at: new Date(now) },
): ItemOutcome<T> {
  if (outcome.kind === 'refuse') return refuseRun(row, outcome.error, now, evidence);
  if (outcome.kind !== 'commit') return outcome;
  const key = keyOf(row);
  const update = { ended_at: new Date(now), staged: null, ...evidenceColumn(evidence) };
  const run: RunEffect = { id: row.id, open: null, write: { update } };
  const payment = paymentOf(row);
  const ended: Partial<Effects> = {
    run,
    ...onceKeysOf(row, 'end', now),
    ...(key && { key }),
    ...(payment && { payment: { kind: 'update', key: payment.key, columns: paid } }),
  };
  return { ...outcome, effects: { ...outcome.effects, ...ended } };
}

const refundDue = (now: number): PaidColumns => ({
  status: 'refund_due',
  reason: 'execution_failed',
  updated_at: new Date(now),
});

/**
 * Ends a run that has read nothing: only its row records the error, and its keys are free again. One whose payment is
 * charged leaves a failed entry, so that its owner sees what has to be returned.
 */
export function refuseRun<T>(
  row: RunRow,
  error: ServiceError,
  now: number,
  evidence = evidenceOfRun(row),
): ItemOutcome<T> {
  if (isPaid(row))
    return endRun<never>(row, failedAfterStaging(row, withRefundDue(error), now), now, evidence);
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
    ...released(paymentOf(row)),
    settlement: { error },
  };
}

function onceKeysOf(row: RunRow, kind: 'end' | 'release', now: number): Pick<Effects, 'onceKeys'> {
  const { onceKeys } = requestOf(row);
  return onceKeys === undefined ? {} : { onceKeys: endOfKeys(onceKeys, kind, now) };
}

/** A payment whose run has read nothing may be used again. */
const released = (payment: Payment | undefined): { payment?: PaymentEffect } =>
  payment === undefined ? {} : { payment: { kind: 'release', key: payment.key } };

/** The column stays null while no decision has left anything. */
export const evidenceColumn = (evidence: readonly Evidence[]): { evidence?: JsonValue } =>
  evidence.length === 0 ? {} : { evidence: evidence as unknown as JsonValue };

function keyOf(row: RunRow): KeyedEffect | undefined {
  const { account_id: accountId, operation, key, request_hash: requestHash } = row;
  if (accountId === null || operation === null || key === null) return undefined;
  const keyed = { accountId, operation, key, requestHash };
  return requestOf(row).asynchronous ? { ...keyed, answer: { ...acceptedAnswer(row.id) } } : keyed;
}

export interface StepDependencies extends RunDependencies {
  readonly outside: Pick<OutsideWork, 'during' | 'unlessMoving'>;
}

/** What the process remembers while it drives a run from step to step. */
export interface Drive {
  /** Times that the current step has failed, not counting what may pass by itself. */
  failures: number;
  /** The decider's answer and its fingerprint. Until it is stored, the decider is not called again for that fingerprint. */
  given?: { readonly fingerprint: ReadFingerprint; readonly answer: DeciderAnswer };
  /** How the settlement of its payment ended, until that is stored. */
  settlement?: Settlement | undefined;
  /** Times that this process has asked for the outcome of its payment; undefined until it has settled or asked. */
  looks?: number;
  ending?: Ending;
}

/** Takes a run from the state in its row to the next one. Resolves once that is committed. */
export type Step = (
  dependencies: StepDependencies,
  row: RunRow,
  signal: AbortSignal,
  drive: Drive,
) => Promise<void>;

/** Why a run ends without an outcome of its own. */
export interface Ending {
  readonly reason: ServiceError;
  /** What the decision that failed has cost. */
  readonly evidence?: Evidence;
  /** The run has read, so it leaves a failed entry. A run that called its decider has always read. */
  readonly hasRead?: boolean;
}
