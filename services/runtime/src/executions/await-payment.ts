import type { ExecutionAnswer, JsonObject, JsonValue } from '@orrery/contracts';
import { type Backoff, backoffDelay } from '@orrery/service-kit';
import type { Evidence } from '../models/evidence.js';
import { paymentProgress } from '../payments/payment-store.js';
import type { Payments } from '../payments/payments.js';
import type { Settlement } from '../payments/settle-payment.js';
import type { OpenRun } from '../state/deployment-state.js';
import type { ItemOutcome, WorkItem } from '../state/work-item.js';
import { evidenceOfRun, withEvidence } from './run-evidence.js';
import { updateRun } from './run-item.js';
import type { RunRow } from './run-row.js';
import {
  countSettlement,
  type SettleRunDependencies,
  settlingItem,
  submitEnd,
  unpaid,
} from './settle-run.js';
import { requiredPayment } from './staged-outcome.js';

export interface AwaitDependencies extends Omit<SettleRunDependencies, 'payments'> {
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
