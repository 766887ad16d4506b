import { isDeepStrictEqual } from 'node:util';
import type {
  PageQuery,
  PaymentRecord,
  PaymentStatus,
  PaymentTotal,
  SettlementResponse,
} from '@orrery/contracts';
import { page } from '@orrery/database';
import { type Selectable, sql, type Updateable } from 'kysely';
import type { Payment, SettleCalls } from '../../core/payments/payment.js';
import type { Db, RuntimeSchema } from '../tables/schema.js';

type PaymentRow = Selectable<RuntimeSchema['payments']>;

/** A page of a deployment's payments, newest first. */
export async function listPayments(
  db: Db,
  deploymentId: number,
  { status, ...query }: PageQuery & { readonly status?: PaymentStatus | undefined },
): Promise<PaymentRecord[]> {
  const all = db.selectFrom('payments').where('deployment_id', '=', deploymentId);
  const wanted = status === undefined ? all : all.where('status', '=', status);
  const rows = await page(wanted.selectAll().orderBy('number', 'desc'), query).execute();
  return rows.map(recordOf);
}

/** All payments of a deployment by asset and status; a counter keeps them, so that it costs the same however many there are. */
export async function totalsOfPayments(db: Db, deploymentId: number): Promise<PaymentTotal[]> {
  const rows = await db
    .selectFrom('payment_totals')
    .select(['network', 'asset', 'decimals', 'status', 'payments', 'amount'])
    .where('deployment_id', '=', deploymentId)
    .where('payments', '>', 0)
    .orderBy('network')
    .orderBy('asset')
    .orderBy('status')
    .execute();
  return rows.map(({ payments, ...row }) => ({ ...row, payments: Number(payments) }));
}

/** How far the settlement of a payment has come. */
export async function paymentProgress(
  db: Db,
  key: string,
): Promise<{ status: PaymentStatus; settlingAt: Date | null; calls: SettleCalls }> {
  const row = await db
    .selectFrom('payments')
    .select(['status', 'settling_at', 'calls'])
    .where('key', '=', key)
    .executeTakeFirstOrThrow();
  // Written by `settle-run.ts`; a run that awaits its payment has calls that are unaccounted for.
  const calls = (row.calls ?? { named: [], unaccounted: true }) as unknown as SettleCalls;
  return { status: row.status, settlingAt: row.settling_at, calls };
}

/**
 * How the payment of an entry was settled, in the form of the version of x402 that it was made in; undefined where it is
 * not known to be settled.
 */
export async function settlementOf(
  db: Db,
  deploymentId: number,
  seq: number,
): Promise<SettlementResponse | undefined> {
  const row = await db
    .selectFrom('journal')
    .innerJoin('payments', 'payments.key', 'journal.payment_key')
    .select(['payments.offered', 'payments.payer', 'payments.transaction', 'payments.network'])
    .where('journal.deployment_id', '=', deploymentId)
    .where('journal.seq', '=', seq)
    .where('payments.status', '=', 'settled')
    .executeTakeFirst();
  if (row === undefined) return undefined;
  const { x402Version: version, requirement } = offeredPayment(row);
  const network = version === 1 ? row.network : requirement.caip2;
  const { transaction, payer } = row;
  return { version, response: { success: true, transaction, network, payer } };
}

/** Whether this very payment, with its signature, has been verified before. */
export async function isVerifiedBefore(db: Db, { key, payload }: Payment): Promise<boolean> {
  const row = await db.selectFrom('payments').select('offered').where('key', '=', key).executeTakeFirst();
  return row !== undefined && isDeepStrictEqual(offeredPayment(row).payload, payload);
}

/** Frees the payment of a run that ends without a lane, before it was staged. */
export const releaseReservation = (db: Db, runId: string) =>
  db.deleteFrom('payments').where('run_id', '=', runId).where('status', '=', 'reserved').execute();

const recordOf = (row: PaymentRow): PaymentRecord => ({
  paymentKey: row.key,
  amount: row.amount,
  decimals: row.decimals,
  network: row.network,
  asset: row.asset,
  payTo: row.pay_to,
  payer: row.payer,
  status: row.status,
  transaction: row.transaction,
  event: row.event,
  wallet: row.wallet,
  inputHash: row.input_hash,
  seq: row.seq,
  reason: row.reason,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

/** Written by `execute.ts`. */
export const offeredPayment = ({ offered }: Pick<PaymentRow, 'offered'>): Payment =>
  offered as unknown as Payment;

/** A payment that is still watched: its outcome is to be asked of its chain. */
export type DuePayment = Pick<
  PaymentRow,
  'key' | 'status' | 'offered' | 'settling_at' | 'created_at' | 'seq'
>;

/** Takes up payments that are due, so that no other process does for `takenMs` milliseconds. */
export async function takeDuePayments(
  db: Db,
  now: number,
  takenMs: number,
  limit: number,
): Promise<DuePayment[]> {
  const { rows } = await sql<DuePayment>`
    update payments set check_at = ${new Date(now + takenMs)} where key in (
      select key from payments p where check_at <= ${new Date(now)}
        and exists (select from deployments d where d.id = p.deployment_id)
      order by check_at limit ${limit}
      for update skip locked)
    returning key, status, offered, settling_at, created_at, seq`.execute(db);
  return rows;
}

/** Changes a payment that is still watched and has this status. Resolves with whether it was. */
export async function changeWatched(
  db: Db,
  key: string,
  status: PaymentStatus,
  columns: Updateable<RuntimeSchema['payments']>,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('payments')
    .set(columns)
    .where('key', '=', key)
    .where('status', '=', status)
    .where('check_at', 'is not', null)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** An asset in which payments are open. */
export interface OpenAsset {
  readonly network: string;
  readonly asset: string;
  readonly payments: number;
}

/** The assets of all payments whose run has not ended, or whose chain is still to be asked. */
export async function assetsOfOpenPayments(db: Db): Promise<OpenAsset[]> {
  const { rows } = await sql<OpenAsset>`
    select network, asset, count(*)::int as payments from (
      select key, network, asset from payments where check_at is not null
      union
      select p.key, p.network, p.asset from runs r join payments p on p.run_id = r.id where r.ended_at is null
    ) open
    group by network, asset order by network, asset`.execute(db);
  return rows;
}
