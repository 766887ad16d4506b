import { type ExecutionAnswer, type JsonObject, type JsonValue, ServiceError } from '@orrery/contracts';
import { type Backoff, backoffDelay, type Clock } from '@orrery/service-kit';
import type { InstanceName } from '../../core/entries/change.js';
import { answerOf } from '../../core/entries/entry.js';
import type { Evidence } from '../../core/models/decider.js';
import { NO_CALLS, type Verdict } from '../../core/payments/judge-settlement.js';
import type { Payment } from '../../core/payments/payment.js';
import { sentenceOf } from '../../core/payments/payment-reasons.js';
import type { ItemOutcome, WorkItem } from '../../lane/items/work-item.js';
import type { Lanes } from '../../lane/queue/lanes.js';
import type { PaymentEffect } from '../../store/commit/batch.js';
import type { Db } from '../../store/database/schema.js';
import { paymentProgress } from '../../store/runs/payment-store.js';
import type { RunRow } from '../../store/runs/run-store.js';
import type { DeploymentState, OpenRun } from '../../store/state/deployment-state.js';
import type { Payments } from '../payments/payments.js';
import type { Settlement } from '../payments/settle-payment.js';
import { countPayment } from '../payments/signals.js';
import { demanded } from '../requests/require-payment.js';
import { endRun, evidenceOfRun, updateRun, withEvidence } from './run-item.js';
import { failedAfterStaging, requiredPayment, stagedOutcomeOf } from './staged-outcome.js';

interface SettleRunDependencies {
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

const countSettlement = ({ kind }: Settlement): void =>
  countPayment(kind === 'unclear' ? 'awaiting' : kind === 'elsewhere' ? 'refund_due' : kind);

/** Submits the end of a run. The error that the run ends with is no error of the item. */
async function submitEnd(
  lanes: Pick<Lanes, 'submit'>,
  item: WorkItem<ExecutionAnswer | undefined>,
): Promise<void> {
  await lanes.submit(item).catch((error: unknown) => {
    const isOfRun = error instanceof ServiceError && error.facts['historyId'] !== undefined;
    if (!isOfRun) throw error;
  });
}

const settlingItem = ({ deployment_id }: RunRow, clock: Clock, signal: AbortSignal) => ({
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
function unpaid(
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

interface AwaitDependencies extends Omit<SettleRunDependencies, 'payments'> {
  readonly payments: Pick<Payments, 'resolve'>;
  /** How long the decision after the wait may take, in milliseconds. */
  readonly aiDeadlineMs: number;
}

/** The pause before a chain is asked again about an unclear payment. */
const PAUSE: Backoff = { baseMs: 1000, maxMs: 10_000 };

/**
 * Asks what became of the payment of a run.
 * @param looks how often this process has asked before; undefined where another one began the wait: a call of that one may
 * be unaccounted for
 */
export async function resolveRun(
  { db, payments, clock }: AwaitDependencies,
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

/** Commits what became of the payment: its execution is decided on the state as it is now, or fails, or goes on waiting. */
export async function endAwaiting(
  { lanes, clock, aiDeadlineMs }: AwaitDependencies,
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
          return awaitsOn(row, open, settlement, now);
        case 'settled':
          return decideAnew(row, open, settlement.transaction, now, aiDeadlineMs);
        default:
          return unpaid(row, settlement, now);
      }
    },
  };
  await submitEnd(lanes, item);
  if (settlement.kind !== 'unclear' && settlement.kind !== 'settled') countSettlement(settlement);
}

/** A call that the wait has made may have named a transaction: a later owner has to know it. */
const awaitsOn = (
  row: RunRow,
  open: OpenRun,
  { calls, reason }: Extract<Settlement, { kind: 'unclear' }>,
  now: number,
): ItemOutcome<undefined> => ({
  ...updateRun(row, open, {}, undefined),
  payment: {
    kind: 'update',
    key: requiredPayment(row).key,
    columns: { calls: { ...calls } as unknown as JsonObject, reason, updated_at: new Date(now) },
  },
});

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
  const { key } = requiredPayment(row);
  const paid = { transaction, reason: null, updated_at: new Date(now) };
  return { ...updateRun(row, open, columns, undefined), payment: { kind: 'update', key, columns: paid } };
}
