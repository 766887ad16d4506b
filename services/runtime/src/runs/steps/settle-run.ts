import { type ExecutionAnswer, type JsonObject, type JsonValue, ServiceError } from '@orrery/contracts';
import { type Backoff, backoffDelay, type Clock } from '@orrery/service-kit';
import { answerOf } from '../../core/entries/entry.js';
import type { Evidence } from '../../core/models/model.js';
import { NO_CALLS } from '../../core/payments/judge-settlement.js';
import { sentenceOf } from '../../core/payments/payment-reasons.js';
import type { ItemOutcome, WorkItem } from '../../lane/items/work-item.js';
import type { PaymentEffect } from '../../store/commit/batch.js';
import { paymentProgress } from '../../store/runs/payment-store.js';
import type { RunRow } from '../../store/runs/run-store.js';
import type { DeploymentState, OpenRun } from '../../store/state/deployment-state.js';
import type { Settlement } from '../payments/settle-payment.js';
import { countPayment } from '../payments/signals.js';
import { demanded } from '../requests/require-payment.js';
import type { RunDependencies } from '../requests/resolve-event.js';
import { endRun, evidenceOfRun, updateRun, withEvidence } from './run-item.js';
import { failedAfterStaging, requiredPayment, stagedOutcomeOf } from './staged-outcome.js';

/** How long a step waits to be committed, in milliseconds; it is taken again until it is. */
const COMMIT_MS = 10_000;
/** The pause before a chain is asked again about an unclear payment. */
const PAUSE: Backoff = { baseMs: 1000, maxMs: 10_000 };
/** A refused payment is looked up once more this long after it has become invalid, in milliseconds. */
const WATCHED_MS = 90_000;

/**
 * Settles the payment of a staged run. That the settlement begins is committed first: a process that has lost the
 * deployment cannot commit that, so it does not ask for the settlement. One that loses the deployment between this commit
 * and its call may still ask; the next owner then sees that a call is unaccounted for.
 *
 * @returns undefined when the run has ended meanwhile
 */
export async function settleRun(
  { db, lanes, payments, clock }: RunDependencies,
  row: RunRow,
  signal: AbortSignal,
): Promise<Settlement | undefined> {
  const payment = requiredPayment(row);
  const { status, settlingAt, calls } = await paymentProgress(db, payment.key);
  // A later owner keeps the time at which the first one began: it may have been charged since then.
  const since = settlingAt?.getTime() ?? clock.now();
  const begins = await lanes.submit(
    settlingItem<boolean>(row, clock, signal, false, (_state, open, now) => ({
      ...updateRun(row, open, {}, true),
      payment: paymentUpdate(row, { status: 'settling', settling_at: new Date(since) }, now),
    })),
  );
  if (!begins) return undefined;
  const before = status === 'staged' ? NO_CALLS : { ...calls, unaccounted: true };
  return payments.settle(payment, { since, calls: before, signal });
}

/**
 * Asks for the outcome of an unclear payment.
 * @param looks how often this process has asked before; undefined where another one began the wait: a call of that one may
 * be unaccounted for
 */
export async function resolveRun(
  { db, payments, clock }: RunDependencies,
  row: RunRow,
  signal: AbortSignal,
  looks: number | undefined,
): Promise<Settlement> {
  // Who began the wait has asked just now, and its caller is to hear first that the payment is unclear.
  if (looks !== undefined) await clock.sleep(backoffDelay(looks + 1, PAUSE), signal);
  const payment = requiredPayment(row);
  const { settlingAt, calls: stored } = await paymentProgress(db, payment.key);
  const calls = looks === undefined ? { ...stored, unaccounted: true } : stored;
  return payments.resolve(payment, { since: (settlingAt ?? row.created_at).getTime(), calls, signal });
}

/**
 * Commits the outcome of a settlement. What was staged is committed exactly so; after a wait, its execution is decided on
 * the state as it is then. Where nobody can tell, the run waits.
 */
export async function endSettlement(
  { lanes, clock, aiDeadlineMs }: RunDependencies,
  row: RunRow,
  settlement: Settlement,
  signal: AbortSignal,
): Promise<void> {
  const isStaged = row.state === 'staged';
  const item = settlingItem<ExecutionAnswer | undefined>(
    row,
    clock,
    signal,
    undefined,
    (state, open, now) => {
      switch (settlement.kind) {
        case 'unclear':
          return awaits(row, open, settlement, now);
        case 'settled':
          return isStaged
            ? commitStaged(row, state, settlement.transaction, now)
            : decideAnew(row, open, settlement.transaction, now, aiDeadlineMs);
        case 'elsewhere':
          return chargedElsewhere(row, settlement.transaction, now);
        case 'refused':
          return refused(row, settlement, now);
      }
    },
  );
  await lanes.submit(item).catch((error: unknown) => {
    // The error that the run ends with is no error of the item.
    const isOfRun = error instanceof ServiceError && error.facts['historyId'] !== undefined;
    if (!isOfRun) throw error;
  });
  const { kind } = settlement;
  if (isStaged && kind === 'unclear') countPayment('awaiting');
  else if (isStaged && kind === 'settled') countPayment('settled');
  else if (kind === 'elsewhere') countPayment('refund_due');
  else if (kind === 'refused') countPayment('refused');
}

/** `ended` answers for a run that has ended meanwhile. */
const settlingItem = <T>(
  { id, deployment_id }: RunRow,
  clock: Clock,
  signal: AbortSignal,
  ended: T,
  decide: (state: DeploymentState, open: OpenRun, now: number) => ItemOutcome<T>,
): WorkItem<T> => ({
  deploymentId: deployment_id,
  deadline: clock.monotonic() + COMMIT_MS,
  signal,
  prepare: () => undefined,
  decide: (state, _ids, now) => {
    const open = state.runs.get(id);
    return open === undefined ? { kind: 'answer', answer: ended } : decide(state, open, now);
  },
});

type PaymentColumns = Omit<Extract<PaymentEffect, { kind: 'update' }>['columns'], 'updated_at'>;

const paymentUpdate = (row: RunRow, columns: PaymentColumns, now: number): PaymentEffect => ({
  kind: 'update',
  key: requiredPayment(row).key,
  columns: { ...columns, updated_at: new Date(now) },
});

/** Nothing is checked again: pauses, bindings, limits and deadlines have no say once the payment is charged. */
function commitStaged(
  row: RunRow,
  { instances }: DeploymentState,
  transaction: string,
  now: number,
): ItemOutcome<ExecutionAnswer | undefined> {
  const { entry, ...rest } = stagedOutcomeOf(row);
  // The process that staged it was another, or forgot them.
  const missing = entry.changes.filter(
    ({ entitySchema, instanceId }) => instances.get(entitySchema, instanceId) === undefined,
  );
  if (missing.length > 0) return { kind: 'needs', needs: { instances: missing } };
  const outcome: ItemOutcome<ExecutionAnswer> = {
    kind: 'commit',
    effects: { entry, ...rest },
    answer: (sealed) => ({ reply: answerOf(sealed, rest.pushes?.targetChains ?? []) }),
  };
  return endRun(row, outcome, now, undefined, { status: 'settled', transaction, updated_at: new Date(now) });
}

/** Nothing is held while nobody can tell, however long that takes: one payer would keep what it held from all others. */
function awaits(
  row: RunRow,
  open: OpenRun,
  { calls, reason }: Extract<Settlement, { kind: 'unclear' }>,
  now: number,
): ItemOutcome<undefined> {
  const released = { ...open, holds: null, staged: false, awaitsPayment: true };
  // A later owner has to know the transactions that were named meanwhile.
  const payment = paymentUpdate(row, { calls: { ...calls } as unknown as JsonObject, reason }, now);
  return { ...updateRun(row, released, { state: 'awaiting_payment', holds: null }, undefined), payment };
}

/**
 * The payment is charged, by us. What was staged was released long ago, so its execution is decided on the state as it is
 * now. An answer of a model that was stored is applied if what it read is still the same.
 */
function decideAnew(
  row: RunRow,
  open: OpenRun,
  transaction: string,
  now: number,
  aiDeadlineMs: number,
): ItemOutcome<undefined> {
  const evidence: readonly Evidence[] = evidenceOfRun(row);
  // The evidence of the stored answer was taken over when it was staged; it comes with the answer again.
  const repeated = withEvidence([], row.proposal as Partial<Evidence> | null).length;
  const columns = {
    state: row.proposal === null ? ('paid' as const) : ('paid_decided' as const),
    evidence: evidence.slice(0, evidence.length - repeated) as unknown as JsonValue,
    attempts: 1,
    holding: false,
    deadline: new Date(now + aiDeadlineMs),
  };
  const payment = paymentUpdate(row, { transaction, reason: null }, now);
  return { ...updateRun(row, open, columns, undefined), payment };
}

function refused(
  row: RunRow,
  { reason, isFinal }: Extract<Settlement, { kind: 'refused' }>,
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

function chargedElsewhere(row: RunRow, transaction: string, now: number): ItemOutcome<ExecutionAnswer> {
  const reason = 'settled_elsewhere';
  const detail = `${sentenceOf(reason)} The owner of the deployment has to return it.`;
  const error = new ServiceError('payment_already_used', detail, { facts: { reason, refundDue: true } });
  const columns = { status: 'refund_due' as const, transaction, reason, updated_at: new Date(now) };
  return endRun(row, failedAfterStaging(row, error, now), now, undefined, columns);
}
