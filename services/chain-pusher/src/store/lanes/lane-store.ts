import { type RawBuilder, sql } from 'kysely';
import type { Db, Lane, Trx } from '../tables/schema.js';

/** Locks a lane for the rest of the transaction: what happens to its pushes is published in this order. */
export const lockLane = (trx: Trx, { deployment, chain }: Lane) =>
  sql`select from lanes where deployment = ${deployment} and chain = ${chain} for update`.execute(trx);

/**
 * Takes the next number of a lane, and says whether the head of an hour that ended at `until` or before waits for one. Numbers
 * have no gap: the lane's row is locked from here to the commit.
 */
export async function nextNumber(
  trx: Trx,
  { deployment, chain }: Lane,
  until: string,
): Promise<{ number: number; isHeadDue: boolean }> {
  const { rows } = await sql<{ number: number; isHeadDue: boolean }>`
    insert into lanes as lane (deployment, chain, last_number) values (${deployment}, ${chain}, 1)
    on conflict (deployment, chain) do update set last_number = lane.last_number + 1
    returning last_number as number, exists (select from due_heads
      where deployment = ${deployment} and chain = ${chain} and not placed and before <= ${until}) as "isHeadDue"`.execute(
    trx,
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the lane gave no number');
  return row;
}

/**
 * Lanes with work, longest without a turn first. None of them has a submission open, so a lane's order is the chain's. Two ranges
 * of the index: as one condition the times would be a filter, which each lane that waits, for a quota, say, is put to.
 */
export async function lanesWithWork(
  db: Db,
  chain: string,
  limit: number,
): Promise<{ deployment: string; sent: number }[]> {
  const { rows } = await sql<{ deployment: string; sent: number }>`
    select deployment, sent_number as sent from (
      ${lanesWaiting(chain, sql`wait_until is null`, limit)} union all ${lanesWaiting(chain, sql`wait_until <= now()`, limit)}
    ) ready order by wait_until nulls first limit ${limit}`.execute(db);
  return rows;
}

const lanesWaiting = (chain: string, until: RawBuilder<unknown>, limit: number) => sql`
  (select deployment, sent_number, wait_until from lanes
  where chain = ${chain} and sent_number < last_number and stop is null and ${until}
    and not exists (select from attempts
      where attempts.deployment = lanes.deployment and attempts.chain = lanes.chain and state = 'open')
  order by wait_until nulls first limit ${limit})`;

/** Lets a lane that cannot be compared with the chain, or differs from it, wait behind those that can send. */
export const putBack = (
  trx: Trx,
  { deployment, chain }: Lane,
  waitsFor: 'not_compared' | 'chain_behind',
  pauseMs: number,
) =>
  sql`
    update lanes set waits_for = ${waitsFor}, wait_until = now() + ${pauseMs} * interval '1 millisecond'
    where deployment = ${deployment} and chain = ${chain}`.execute(trx);

/** What waits for a chain, how long it has waited, in seconds, and the lanes that have stopped. */
export interface Backlog {
  readonly pushes: number;
  readonly seconds: number;
  readonly stopped: number;
}

/** Lanes that have stopped and those that have not are found by an index each; others with nothing to send are not read. */
export async function backlogOf(db: Db, chain: string): Promise<Backlog> {
  const { rows } = await sql<Backlog>`
    select coalesce(sum(last_number - sent_number), 0)::bigint as pushes,
      count(*) filter (where stop is not null or waits_for = 'chain_behind')::bigint as stopped,
      coalesce(extract(epoch from now() - min((select created_at from pushes
        where pushes.deployment = lanes.deployment and pushes.chain = lanes.chain
          and pushes.number = lanes.sent_number + 1))), 0)::float8 as seconds
    from lanes where chain = ${chain} and sent_number < last_number and (stop is null or stop is not null)`.execute(
    db,
  );
  return rows[0] ?? { pushes: 0, seconds: 0, stopped: 0 };
}
