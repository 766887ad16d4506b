import { type ExecutionAnswer, ServiceError } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import { noChanges } from '../execution/check-changes.js';
import { uuidV7 } from '../ids/uuid-v7.js';
import type { InstanceName } from '../journal/change.js';
import { answerOf } from '../journal/entry.js';
import { executionErrorOf } from '../journal/entry-error.js';
import type { Lanes } from '../lanes/lanes.js';
import type { Payment } from '../payments/payment.js';
import { paymentProgress } from '../payments/payment-store.js';
import type { Payments } from '../payments/payments.js';
import type { Settled } from '../payments/settle-payment.js';
import { countPayment } from '../payments/signals.js';
import type { DeploymentState } from '../state/deployment-state.js';
import type { PaymentEffect } from '../state/effects.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';
import { withEntry } from './conclude.js';
import { demanded } from './pay-first.js';
import { endRun, updateRun } from './run-item.js';
import type { RunRow } from './run-row.js';
import { requiredPayment, stagedOutcomeOf } from './stage-run.js';

export interface SettleRunDependencies {
  readonly db: Db;
  readonly lanes: Pick<Lanes, 'submit'>;
  readonly payments: Pick<Payments, 'settle'>;
  readonly clock: Clock;
}

/** How long a step waits to be committed, in milliseconds; it is taken again until it is. */
const COMMIT_MS = 10_000;

/**
 * Settles the payment of a staged run and ends the run. That the settlement begins is committed first: a process that has
 * lost the deployment cannot commit that, so it does not ask for the settlement. One that loses the deployment between
 * this commit and its call may still ask; the next owner then sees that it may, and a chain charges a payment once.
 *
 * @returns undefined when the run has ended meanwhile
 */
export async function settleRun(
  { db, lanes, payments, clock }: SettleRunDependencies,
  row: RunRow,
  signal: AbortSignal,
): Promise<Settled | undefined> {
  const payment = requiredPayment(row);
  const { status, settlingAt } = await paymentProgress(db, payment.key);
  // A later owner keeps the time at which the first one began: it may have been charged since then.
  const since = settlingAt?.getTime() ?? clock.now();
  const begins = await lanes.submit(beginItem(row, payment, since, clock, signal));
  if (!begins) return undefined;
  return payments.settle(payment, { since, alone: status === 'staged', signal });
}

const beginItem = (
  row: RunRow,
  { key }: Payment,
  since: number,
  clock: Clock,
  signal: AbortSignal,
): WorkItem<boolean> => ({
  ...stepOf(row, clock, signal),
  decide: (state, _ids, now) => {
    const open = state.runs.get(row.id);
    if (open === undefined) return { kind: 'answer', answer: false };
    const payment: PaymentEffect = {
      kind: 'update',
      key,
      columns: { status: 'settling', settling_at: new Date(since), updated_at: new Date(now) },
    };
    return { ...updateRun(row, open, {}, true), payment };
  },
});

/** Commits how the settlement ended together with what was staged, or with the failure of a refused payment. */
export async function endPaidRun(
  { lanes, clock }: Pick<SettleRunDependencies, 'lanes' | 'clock'>,
  row: RunRow,
  settled: Settled,
  signal: AbortSignal,
): Promise<void> {
  const item: WorkItem<ExecutionAnswer | undefined> = {
    ...stepOf(row, clock, signal),
    decide: (state, _ids, now) => {
      if (!state.runs.has(row.id)) return { kind: 'answer', answer: undefined };
      if (settled.kind === 'refused') return refused(row, settled, now);
      const missing = notInMemory(row, state);
      return missing.length > 0 ? { kind: 'needs', needs: { instances: missing } } : paid(row, settled, now);
    },
  };
  const isOwnRefusal = (error: unknown) =>
    error instanceof ServiceError && error.code === 'payment_refused' && settled.kind === 'refused';
  await lanes.submit(item).catch((error: unknown) => {
    if (!isOwnRefusal(error)) throw error;
  });
  countPayment(settled.kind);
}

const stepOf = ({ deployment_id }: RunRow, clock: Clock, signal: AbortSignal) => ({
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

/** Nothing is checked again: pauses, bindings, limits and deadlines have no say once the payment may be charged. */
function paid(
  row: RunRow,
  settled: Exclude<Settled, { kind: 'refused' }>,
  now: number,
): ItemOutcome<ExecutionAnswer | undefined> {
  const { entry, ...rest } = stagedOutcomeOf(row);
  const at = new Date(now);
  const columns =
    settled.kind === 'settled'
      ? { status: 'settled' as const, transaction: settled.transaction, updated_at: at }
      : { status: 'unknown' as const, reason: settled.reason, check_at: at, updated_at: at };
  const outcome: ItemOutcome<ExecutionAnswer> = {
    kind: 'commit',
    effects: { entry, ...rest },
    answer: (sealed) => ({ reply: answerOf(sealed, rest.pushes?.targetChains ?? []) }),
  };
  return endRun(row, outcome, now, undefined, columns);
}

/** A refused payment fails the execution: nothing of what was staged is committed, and nobody was charged. */
function refused(
  row: RunRow,
  { reason, isFinal }: Extract<Settled, { kind: 'refused' }>,
  now: number,
): ItemOutcome<ExecutionAnswer | undefined> {
  const { requirement, resource, validUntil } = requiredPayment(row);
  const { entry: staged, llm = null } = stagedOutcomeOf(row);
  const detail = `The payment was refused when it was settled: ${reason}`;
  const error = demanded('payment_refused', detail, [requirement], resource);
  const at = new Date(now);
  const entry = {
    ...staged,
    id: uuidV7(now),
    status: 'failed' as const,
    changes: noChanges(),
    result: null,
    error: executionErrorOf(new ServiceError('payment_refused', detail)),
    executedAt: at.toISOString(),
  };
  const outcome: ItemOutcome<ExecutionAnswer> = {
    kind: 'commit',
    effects: { entry, llm, durationMs: Math.max(0, now - row.created_at.getTime()) },
    answer: (sealed) => ({ error: withEntry(error, sealed) }),
  };
  const watched = isFinal ? null : new Date(validUntil + WATCHED_MS);
  const columns = { status: 'refused' as const, reason, check_at: watched, updated_at: at };
  return endRun(row, outcome, now, undefined, columns);
}

/** A refused payment is looked up once more this long after it has become invalid, in milliseconds. */
const WATCHED_MS = 90_000;
