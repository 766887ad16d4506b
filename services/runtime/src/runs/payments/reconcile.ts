import { type Clock, type Logger, type PollLoop, startPollLoop, withinTime } from '@orrery/service-kit';
import type { Payment } from '../../core/payments/payment.js';
import {
  changeWatched,
  type DuePayment,
  offeredPayment,
  takeDuePayments,
} from '../../store/runs/payment-store.js';
import type { Db } from '../../store/tables/schema.js';
import { type NamingDependencies, nameUnconfigured } from './name-unconfigured.js';
import type { Payments } from './payments.js';
import { countPayment } from './signals.js';

interface ReconcileDependencies {
  readonly db: Db;
  readonly payments: Pick<Payments, 'look' | 'resolve'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const INTERVAL_MS = 5000;
const AT_ONCE = 20;
/** A payment that is still open is looked up again after as long as it has been unknown, within these bounds in milliseconds. */
const AGAIN_MS = { min: 5000, max: 600_000 };
/** A process that has taken a payment up has this long before another may, in milliseconds. */
const TAKEN_MS = 60_000;
/** How long a chain may be asked about a payment, in milliseconds. */
const LOOK_MS = 20_000;
/** A payment that we have not charged is looked up once more this long after it has become invalid, in milliseconds. */
const WATCHED_MS = 90_000;

/** When a payment is looked up whose execution has failed: until its end others could charge it. */
export const watchedAt = ({ validUntil }: Pick<Payment, 'validUntil'>): Date =>
  new Date(validUntil + WATCHED_MS);

/**
 * Asks the chains for the outcome of refused and released payments once they are invalid: one that was charged all the same
 * is due for a refund. Payments that are `unknown` were committed by an older release before their settlement was known. They are
 * settled once more as long as they are valid. Every process does this for all deployments; one payment is taken up by one
 * process at a time. It begins with naming open payments that cannot end.
 */
export function startReconciliation(dependencies: ReconcileDependencies & NamingDependencies): PollLoop {
  let named = false;
  return startPollLoop({
    name: 'payment reconciliation',
    intervalMs: INTERVAL_MS,
    clock: dependencies.clock,
    logger: dependencies.logger,
    runOnce: async (signal) => {
      if (!named) await nameUnconfigured(dependencies);
      named = true;
      return (await reconcileDue(dependencies, signal)) === AT_ONCE ? 'more' : 'idle';
    },
  });
}

/** Resolves with how many payments were due. */
export async function reconcileDue(
  dependencies: ReconcileDependencies,
  signal: AbortSignal,
): Promise<number> {
  const due = await takeDuePayments(dependencies.db, dependencies.clock.now(), TAKEN_MS, AT_ONCE);
  const reconcile = async (row: DuePayment) => {
    const outcomeOf = row.status === 'unknown' ? reconcileUnknown : watchUncharged;
    await outcomeOf(dependencies, row, signal).catch((error: unknown) =>
      afterFailure(dependencies, row, error, signal),
    );
  };
  await Promise.all(due.map(reconcile));
  return due.length;
}

/** It is looked up again after a pause that grows, so what cannot be told for long takes little time from the others. */
async function afterFailure(
  dependencies: ReconcileDependencies,
  row: DuePayment,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const { logger } = dependencies;
  logger.warn({ err: error, payment: row.key }, 'the outcome of a payment could not be told');
  // Where the database is away, another search takes it up.
  await again(dependencies, row).catch(() => undefined);
}

/** An older release has executed what it pays for. What its calls have sent is not known. */
async function reconcileUnknown(
  dependencies: ReconcileDependencies,
  row: DuePayment,
  signal: AbortSignal,
): Promise<void> {
  const { payments, logger } = dependencies;
  const calls = { named: [], unaccounted: true };
  const settlement = await payments.resolve(offeredPayment(row), { since: sinceOf(row), calls, signal });
  switch (settlement.kind) {
    case 'settled':
    case 'elsewhere':
      return end(dependencies, row, 'settled', { transaction: settlement.transaction, reason: null });
    case 'refused':
      logger.warn(
        { payment: row.key, seq: row.seq },
        'an execution succeeded whose payment was never charged',
      );
      return end(dependencies, row, 'uncollected', { reason: settlement.reason });
    case 'unclear':
      return again(dependencies, row);
  }
}

/** Its execution has failed. Whoever has seen the authorization could still submit it. */
async function watchUncharged(
  dependencies: ReconcileDependencies,
  row: DuePayment,
  signal: AbortSignal,
): Promise<void> {
  const { payments, clock, logger } = dependencies;
  const look = (either: AbortSignal) =>
    payments.look(offeredPayment(row), { since: sinceOf(row), named: [], signal: either });
  const charge = await withinTime(clock, LOOK_MS, signal, look);
  // We have sent no released one: without a node there is no more to learn of it.
  const isOver = charge.kind === 'void' || (charge.kind === 'unseen' && row.status === 'released');
  if (isOver) return endWatch(dependencies, row);
  if (charge.kind !== 'charged') return again(dependencies, row);
  logger.error({ payment: row.key, seq: row.seq }, 'a payment was charged whose execution had failed');
  return end(dependencies, row, 'refund_due', { transaction: charge.transaction, reason: 'charged_late' });
}

const sinceOf = ({ settling_at, created_at }: DuePayment): number => (settling_at ?? created_at).getTime();

/** Writes it unless another process was faster, and counts it. */
async function end(
  { db, clock }: ReconcileDependencies,
  { key, status: before }: DuePayment,
  status: 'settled' | 'uncollected' | 'refund_due',
  columns: { transaction?: string; reason?: string | null },
): Promise<void> {
  const updated_at = new Date(clock.now());
  const isChanged = await changeWatched(db, key, before, { status, ...columns, check_at: null, updated_at });
  if (isChanged) countPayment(status);
}

/** It stays what it is, and is looked up no more. */
async function endWatch({ db, clock }: ReconcileDependencies, { key, status }: DuePayment): Promise<void> {
  await changeWatched(db, key, status, { check_at: null, updated_at: new Date(clock.now()) });
}

async function again({ db, clock }: ReconcileDependencies, row: DuePayment): Promise<void> {
  const now = clock.now();
  const pause = Math.min(AGAIN_MS.max, Math.max(AGAIN_MS.min, now - sinceOf(row)));
  await changeWatched(db, row.key, row.status, { check_at: new Date(now + pause) });
}
