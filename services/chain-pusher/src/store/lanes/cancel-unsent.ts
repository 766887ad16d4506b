import { transaction } from '@orrery/database';
import { sql } from 'kysely';
import type { Db, Lane, Trx } from '../tables/schema.js';
import { lockLane } from './lane-store.js';

/** Pushes that are rewritten at once. */
const AT_ONCE = 1000;

/**
 * What a lane has sent goes on; the rest is never sent. The lane's row is locked, so nothing is claimed meanwhile. Rows beyond
 * the last number read as cancelled from now on. There may be any number of them, so `sweepCancelled` rewrites them later.
 */
export async function cancelUnsent(trx: Trx, deployment: string): Promise<void> {
  await sql`delete from due_heads where deployment = ${deployment}`.execute(trx);
  await sql`
    update lanes set last_number = sent_number, stop = null, cancels = cancels or sent_number < last_number
    where deployment = ${deployment}`.execute(trx);
}

/** Rewrites what deletions have cancelled, and removes its contents. */
export async function sweepCancelled(db: Db, signal: AbortSignal): Promise<void> {
  const lanes = await db
    .selectFrom('lanes')
    .select(['deployment', 'chain', 'last_number as last'])
    .where('cancels', '=', true)
    .execute();
  for (const { last, ...lane } of lanes) await sweepLane(db, lane, last, signal);
}

async function sweepLane(db: Db, lane: Lane, last: number, signal: AbortSignal): Promise<void> {
  const { deployment, chain } = lane;
  const { rows } = await sql<{ end: number | null }>`
    select max(number) as end from pushes where deployment = ${deployment} and chain = ${chain}`.execute(db);
  for (let from = last; from < (rows[0]?.end ?? 0); from += AT_ONCE) {
    signal.throwIfAborted();
    await transaction(db, (trx) => cancelRange(trx, lane, from));
  }
  await sql`
    update lanes set cancels = false
    where deployment = ${deployment} and chain = ${chain} and last_number = ${last}`.execute(db);
}

async function cancelRange(trx: Trx, lane: Lane, from: number): Promise<void> {
  const { deployment, chain } = lane;
  await lockLane(trx, lane);
  await sql`
    update pushes set status = 'cancelled', content = null, changed_at = now()
    from lanes
    where pushes.deployment = ${deployment} and pushes.chain = ${chain}
      and lanes.deployment = ${deployment} and lanes.chain = ${chain} and cancels
      and number > ${from} and number <= ${from + AT_ONCE} and number > last_number
      and status in ('queued', 'failed')`.execute(trx);
}
