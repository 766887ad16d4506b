import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import { type Selectable, sql } from 'kysely';
import type { Db } from '../database/db.js';
import type { RuntimeTables } from '../database/schema.js';
import type { Charge, Payment } from './payment.js';
import type { Payments } from './payments.js';
import { countPayment } from './signals.js';
import { withinTime } from './within-time.js';

export interface ReconcileDependencies {
  readonly db: Db;
  readonly payments: Pick<Payments, 'look' | 'settle'>;
  readonly clock: Clock;
  readonly logger: Logger;
}

type Row = Pick<
  Selectable<RuntimeTables['payments']>,
  'key' | 'status' | 'offered' | 'settling_at' | 'valid_until' | 'seq' | 'deployment_id'
>;

/** How often the database is searched for payments that are due, in milliseconds. */
const INTERVAL_MS = 5000;
/** Payments that one search takes up. */
const AT_ONCE = 20;
/** A payment that is still open is looked up again after as long as it has been unknown, within these bounds in milliseconds. */
const AGAIN_MS = { min: 5000, max: 600_000 };
/** A process that has taken a payment up has this long before another may, in milliseconds. */
const TAKEN_MS = 60_000;
/** How long a chain may be asked about a payment, and one more settlement of it may take, in milliseconds. */
const LOOK_MS = 20_000;
const SETTLE_MS = 10_000;

/**
 * Asks the chains what became of payments whose settlement is unknown, and of refused ones once they are invalid. An
 * unknown one that was not charged is settled once more as long as it is valid: its execution has succeeded. Every process
 * does this for all deployments; one payment is taken up by one process at a time.
 */
export function startReconciliation(dependencies: ReconcileDependencies): PollLoop {
  return startPollLoop({
    name: 'payment reconciliation',
    intervalMs: INTERVAL_MS,
    clock: dependencies.clock,
    logger: dependencies.logger,
    runOnce: async (signal) => ((await reconcileDue(dependencies, signal)) === AT_ONCE ? 'more' : 'idle'),
  });
}

/** Resolves with how many payments were due. */
export async function reconcileDue(
  dependencies: ReconcileDependencies,
  signal: AbortSignal,
): Promise<number> {
  const due = await takeDue(dependencies);
  await Promise.all(
    due.map((row) =>
      reconcile(dependencies, row, signal).catch((error: unknown) =>
        afterFailure(dependencies, row, error, signal),
      ),
    ),
  );
  return due.length;
}

/** It is looked up again after a pause that grows, so what cannot be told for long takes little time from the others. */
async function afterFailure(
  dependencies: ReconcileDependencies,
  row: Row,
  error: unknown,
  signal: AbortSignal,
): Promise<void> {
  if (signal.aborted) return;
  const { logger } = dependencies;
  logger.warn({ err: error, payment: row.key }, 'what became of a payment could not be told');
  // Where the database is away, another search takes it up.
  await again(dependencies, row).catch(() => undefined);
}

async function takeDue({ db, clock }: ReconcileDependencies): Promise<Row[]> {
  const now = clock.now();
  const { rows } = await sql<Row>`
    update payments set check_at = ${new Date(now + TAKEN_MS)} where key in (
      select key from payments where check_at <= ${new Date(now)} order by check_at limit ${AT_ONCE}
      for update skip locked)
    returning key, status, offered, settling_at, valid_until, seq, deployment_id`.execute(db);
  return rows;
}

async function reconcile(dependencies: ReconcileDependencies, row: Row, signal: AbortSignal): Promise<void> {
  const { payments, clock, logger } = dependencies;
  // Written by `accept-run.ts`.
  const payment = row.offered as unknown as Payment;
  const charge = await lastChance({ payments, clock }, payment, row, signal);
  const { key, seq, deployment_id: deployment } = row;
  if (charge.kind === 'open') return await again(dependencies, row);
  if (row.status === 'refused') {
    if (charge.kind === 'charged')
      logger.error({ payment: key, deployment, seq }, 'a payment was charged after it was refused');
    const columns =
      charge.kind === 'charged' ? { transaction: charge.transaction, reason: CHARGED_LATE } : {};
    if (await end(dependencies, row, 'refused', columns))
      if (charge.kind === 'charged') countPayment('charged_after_refusal');
    return;
  }
  const [status, columns] =
    charge.kind === 'charged'
      ? (['settled', { transaction: charge.transaction, reason: null }] as const)
      : (['uncollected', { reason: charge.reason }] as const);
  if (!(await end(dependencies, row, status, columns))) return;
  countPayment(status);
  if (status === 'uncollected')
    logger.warn({ payment: key, deployment, seq }, 'an execution succeeded whose payment was never charged');
}

const CHARGED_LATE = 'It was charged after it was refused: return it to the payer.';

/** What the chain says, after one more settlement where an execution is still to be paid. */
async function lastChance(
  { payments, clock }: Pick<ReconcileDependencies, 'payments' | 'clock'>,
  payment: Payment,
  row: Row,
  signal: AbortSignal,
): Promise<Charge> {
  const since = row.settling_at?.getTime() ?? clock.now();
  const look = (either: AbortSignal) => payments.look(payment, { since, signal: either });
  const charge = await withinTime(clock, LOOK_MS, signal, look);
  const now = clock.now();
  if (charge.kind !== 'open' || row.status !== 'unknown' || now >= row.valid_until.getTime()) return charge;
  const settled = await payments.settle(payment, {
    until: clock.monotonic() + SETTLE_MS,
    since,
    alone: false,
    signal,
  });
  if (settled.kind === 'settled') return { kind: 'charged', transaction: settled.transaction };
  return settled.kind === 'refused' && settled.isFinal ? { kind: 'void', reason: settled.reason } : charge;
}

/** Whether this was the one to write it: another process may have been faster. */
async function end(
  { db, clock }: ReconcileDependencies,
  { key, status: before }: Row,
  status: Row['status'],
  columns: { transaction?: string; reason?: string | null },
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('payments')
    .set({ status, ...columns, check_at: null, updated_at: new Date(clock.now()) })
    .where('key', '=', key)
    .where('status', '=', before)
    .where('check_at', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

async function again({ db, clock }: ReconcileDependencies, { key, settling_at }: Row): Promise<void> {
  const now = clock.now();
  const unknownFor = settling_at === null ? 0 : now - settling_at.getTime();
  const pause = Math.min(AGAIN_MS.max, Math.max(AGAIN_MS.min, unknownFor));
  await db
    .updateTable('payments')
    .set({ check_at: new Date(now + pause) })
    .where('key', '=', key)
    .where('check_at', 'is not', null)
    .execute();
}
