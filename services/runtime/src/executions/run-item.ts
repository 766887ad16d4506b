import {
  asServiceError,
  type JsonObject,
  type JsonValue,
  type ServiceError,
  toErrorReply,
  type WorldTexts,
} from '@orrery/contracts';
import { type Clock, monotonicOf } from '@orrery/service-kit';
import type { CatalogClient } from '../catalog/catalog-client.js';
import type { Execution } from '../execution/execution.js';
import type { Evidence } from '../models/evidence.js';
import type { ModelList } from '../models/model-list.js';
import { endOfKeys } from '../once/once-item.js';
import type { Payment } from '../payments/payment.js';
import type { DeploymentState, OpenRun } from '../state/deployment-state.js';
import type { Effects, KeyedEffect, PaymentEffect, RunEffect } from '../state/effects.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';
import { type Briefing, briefingOf, confirmTexts } from './briefing.js';
import { type EntryDetails, withRefundDue } from './conclude.js';
import { confirmVersion, executionOf, type ResolveDependencies, resolveEvent } from './execution-item.js';
import type { Confirmed, Resolved } from './execution-request.js';
import { entryEvidence, evidenceOfRun } from './run-evidence.js';
import {
  acceptedAnswer,
  endOf,
  executionRequestOf,
  isPaid,
  paymentOf,
  type RunRow,
  requestOf,
} from './run-row.js';
import { failedAfterStaging } from './staged-outcome.js';

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

export interface BriefingDependencies {
  readonly catalog: Pick<CatalogClient, 'world'>;
  readonly models: Pick<ModelList, 'default' | 'find'>;
}

/**
 * One step of a run as an item of its deployment's lane, with the run's deadline. It ends a run that may not be executed
 * any more, and answers `undefined` for one that has ended meanwhile.
 */
export function runItem<T>(
  { catalog, limits, models, clock }: ResolveDependencies & BriefingDependencies & { readonly clock: Clock },
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
  const onceKeys = endOfKeys(requestOf(row).onceKeys ?? [], 'end', now);
  const payment = paymentOf(row);
  const ended: Partial<Effects> = {
    run,
    onceKeys,
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
    onceKeys: endOfKeys(requestOf(row).onceKeys ?? [], 'release', now),
    ...released(paymentOf(row)),
    settlement: { error },
  };
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
