import { type ExecutionAnswer, type JsonObject, ServiceError } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import type { InstanceName } from '../journal/change.js';
import { answerOf } from '../journal/entry.js';
import type { Lanes } from '../lanes/lanes.js';
import { NO_CALLS, type Verdict } from '../payments/judge-settlement.js';
import type { Payment } from '../payments/payment.js';
import { sentenceOf } from '../payments/payment-reasons.js';
import { paymentProgress } from '../payments/payment-store.js';
import type { Payments } from '../payments/payments.js';
import type { Settlement } from '../payments/settle-payment.js';
import { countPayment } from '../payments/signals.js';
import type { DeploymentState } from '../state/deployment-state.js';
import type { PaymentEffect } from '../state/effects.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';
import { demanded } from './pay-first.js';
import { endRun, updateRun } from './run-item.js';
import type { RunRow } from './run-row.js';
import { failedAfterStaging, requiredPayment, stagedOutcomeOf } from './staged-outcome.js';

export interface SettleRunDependencies {
  readonly db: Db;
  readonly lanes: Pick<Lanes, 'submit'>;
  readonly payments: Pick<Payments, 'settle'>;
  readonly clock: Clock;
}

/** How long a step waits to be committed, in milliseconds; it is taken again until it is. */
const COMMIT_MS = 10_000;

/**
 * Settles the payment of a staged run. That the settlement begins is committed first: a process that has lost the
 * deployment cannot commit that, so it does not ask for the settlement. One that loses the deployment between this commit
 * and its call may still ask; the next owner then sees that a call is unaccounted for.
 *
 * @returns undefined when the run has ended meanwhile
 */
export async function settleRun(
  { db, lanes, payments, clock }: SettleRunDependencies,
  row: RunRow,
  signal: AbortSignal,
): Promise<Settlement | undefined> {
  const payment = requiredPayment(row);
  const { status, settlingAt, calls } = await paymentProgress(db, payment.key);
  // A later owner keeps the time at which the first one began: it may have been charged since then.
  const since = settlingAt?.getTime() ?? clock.now();
  const begins = await lanes.submit(beginItem(row, payment, since, clock, signal));
  if (!begins) return undefined;
  const before = status === 'staged' ? NO_CALLS : { ...calls, unaccounted: true };
  return payments.settle(payment, { since, calls: before, signal });
}

const beginItem = (
  row: RunRow,
  { key }: Payment,
  since: number,
  clock: Clock,
  signal: AbortSignal,
): WorkItem<boolean> => ({
  ...settlingItem(row, clock, signal),
  decide: (state, _ids, now) => {
    const open = state.runs.get(row.id);
    if (open === undefined) return { kind: 'answer', answer: false };
    const columns = {
      status: 'settling' as const,
      settling_at: new Date(since),
      updated_at: new Date(now),
    };
    return { ...updateRun(row, open, {}, true), payment: { kind: 'update', key, columns } };
  },
});

/** Commits how the settlement of a staged run ended. */
export async function endSettlement(
  { lanes, clock }: Pick<SettleRunDependencies, 'lanes' | 'clock'>,
  row: RunRow,
  settlement: Settlement,
  signal: AbortSignal,
): Promise<void> {
  const item: WorkItem<ExecutionAnswer | undefined> = {
    ...settlingItem(row, clock, signal),
    decide: (state, _ids, now) => {
      const open = state.runs.get(row.id);
      if (open === undefined) return { kind: 'answer', answer: undefined };
      switch (settlement.kind) {
        case 'unclear':
          return awaits(row, open, settlement, now);
        case 'settled': {
          const missing = notInMemory(row, state);
          return missing.length > 0
            ? { kind: 'needs', needs: { instances: missing } }
            : paid(row, settlement.transaction, now);
        }
        default:
          return unpaid(row, settlement, now);
      }
    },
  };
  await submitEnd(lanes, item);
  countSettlement(settlement);
}

export const countSettlement = ({ kind }: Settlement): void =>
  countPayment(kind === 'unclear' ? 'awaiting' : kind === 'elsewhere' ? 'refund_due' : kind);

/** Submits the end of a run. The error that the run ends with is no error of the item. */
export async function submitEnd(
  lanes: Pick<Lanes, 'submit'>,
  item: WorkItem<ExecutionAnswer | undefined>,
): Promise<void> {
  await lanes.submit(item).catch((error: unknown) => {
    const isOfRun = error instanceof ServiceError && error.facts['historyId'] !== undefined;
    if (!isOfRun) throw error;
  });
}

export const settlingItem = ({ deployment_id }: RunRow, clock: Clock, signal: AbortSignal) => ({
  deploymentId: deployment_id,
  deadline: clock.monotonic() + COMMIT_MS,
  signal,
  prepare: () => undefined,
});

/** Instances that the run changes and this process has not read: the one that staged it was another, or forgot them. */
const notInMemory = (row: RunRow, { instances }: DeploymentState): InstanceName[] =>
  stagedOutcomeOf(row).entry.changes.filter(
    ({ entitySchema, instanceId }) => instances.get(entitySchema, instanceId) === undefined,
  );

/** Nothing is checked again: pauses, bindings, limits and deadlines have no say once the payment is charged. */
function paid(row: RunRow, transaction: string, now: number): ItemOutcome<ExecutionAnswer | undefined> {
  const { entry, ...rest } = stagedOutcomeOf(row);
  const outcome: ItemOutcome<ExecutionAnswer> = {
    kind: 'commit',
    effects: { entry, ...rest },
    answer: (sealed) => ({ reply: answerOf(sealed, rest.pushes?.targetChains ?? []) }),
  };
  const columns = { status: 'settled' as const, transaction, updated_at: new Date(now) };
  return endRun(row, outcome, now, undefined, columns);
}

/** Nothing is held while nobody can tell, however long that takes: one payer would keep what it held from all others. */
function awaits(
  row: RunRow,
  open: Parameters<typeof updateRun>[1],
  { calls, reason }: Extract<Settlement, { kind: 'unclear' }>,
  now: number,
): ItemOutcome<undefined> {
  const { key } = requiredPayment(row);
  const released = { ...open, holds: null, staged: false, awaitsPayment: true };
  const columns = { calls: { ...calls } as unknown as JsonObject, reason, updated_at: new Date(now) };
  const payment: PaymentEffect = { kind: 'update', key, columns };
  return { ...updateRun(row, released, { state: 'awaiting_payment', holds: null }, undefined), payment };
}

/** The execution fails, and nothing of what was staged is committed: the payment was not charged, or not by us. */
export function unpaid(
  row: RunRow,
  verdict: Exclude<Verdict, { kind: 'settled' }>,
  now: number,
): ItemOutcome<ExecutionAnswer | undefined> {
  return verdict.kind === 'elsewhere'
    ? chargedElsewhere(row, verdict.transaction, now)
    : refused(row, verdict, now);
}

function refused(
  row: RunRow,
  { reason, isFinal }: Extract<Verdict, { kind: 'refused' }>,
  now: number,
): ItemOutcome<ExecutionAnswer> {
  const { requirement, resource, validUntil } = requiredPayment(row);
  const detail = `The payment was refused when it was settled. ${sentenceOf(reason)}`;
  const error = demanded('payment_refused', detail, [requirement], resource, { reason });
  const journalled = new ServiceError('payment_refused', detail, { facts: { reason } });
  const outcome = failedAfterStaging(row, error, now, journalled);
  const check_at = isFinal ? null : new Date(validUntil + WATCHED_MS);
  const columns = { status: 'refused' as const, reason, check_at, updated_at: new Date(now) };
  return endRun(row, outcome, now, undefined, columns);
}

/** A refused payment is looked up once more this long after it has become invalid, in milliseconds. */
const WATCHED_MS = 90_000;

function chargedElsewhere(row: RunRow, transaction: string, now: number): ItemOutcome<ExecutionAnswer> {
  const reason = 'settled_elsewhere';
  const detail = `${sentenceOf(reason)} The owner of the deployment has to return it.`;
  const error = new ServiceError('payment_already_used', detail, { facts: { reason, refundDue: true } });
  const outcome = failedAfterStaging(row, error, now);
  const columns = { status: 'refund_due' as const, transaction, reason, updated_at: new Date(now) };
  return endRun(row, outcome, now, undefined, columns);
}
