import { sql } from 'kysely';
import type { Db } from '../database/db.js';
import type { Lease } from './partitions.js';

const leases = (rows: { id: number; epoch: number }[]): Lease[] =>
  rows.map(({ id, epoch }) => ({ partition: id, epoch }));

const later = (ttlMs: number) => sql<Date>`now() + ${ttlMs} * interval '1 millisecond'`;

/** Records that this process is alive, and counts the live processes. Times are those of the database's clock. */
export async function announce(db: Db, instance: string, ttlMs: number): Promise<number> {
  await sql`
    insert into members (instance, expires_at) values (${instance}, ${later(ttlMs)})
    on conflict (instance) do update set expires_at = excluded.expires_at`.execute(db);
  await sql`delete from members where expires_at < now() - interval '1 minute'`.execute(db);
  const { rows } = await sql<{ live: number }>`
    select count(*)::int as live from members where expires_at > now()`.execute(db);
  return rows[0]?.live ?? 1;
}

/**
 * Extends the leases that are held and answers them; a lease missing from the answer has been lost. It waits for no
 * commit, and locks rows in the order of their ids, as every statement that locks several leases does.
 */
export async function renew(db: Db, instance: string, ttlMs: number): Promise<Lease[]> {
  const { rows } = await sql<{ id: number; epoch: number }>`
    with mine as materialized (
      select id from partitions where owner = ${instance} order by id for no key update
    )
    update partitions p set expires_at = ${later(ttlMs)} from mine where p.id = mine.id
    returning p.id, p.epoch`.execute(db);
  return leases(rows);
}

/** `takingOrder` of a partition, in SQL. */
const TAKING_ORDER = sql.raw(
  '((id & 1) << 5 | (id & 2) << 3 | (id & 4) << 1 | (id & 8) >> 1 | (id & 16) >> 3 | (id & 32) >> 5)',
);

/**
 * Takes up to `limit` partitions that no process holds any more, each under a new epoch. `for update skip locked` leaves
 * out partitions that a commit has locked, so no partition is taken during a commit.
 */
export async function acquire(db: Db, instance: string, ttlMs: number, limit: number): Promise<Lease[]> {
  const { rows } = await sql<{ id: number; epoch: number }>`
    update partitions set owner = ${instance}, epoch = epoch + 1, expires_at = ${later(ttlMs)}
    where id in (
      select id from partitions where owner is null or expires_at < now()
      order by ${TAKING_ORDER} limit ${limit} for update skip locked
    ) returning id, epoch`.execute(db);
  return leases(rows);
}

/** What a process needs to know in order to balance. Times are those of the database's clock. */
export interface Balance {
  /** Live processes, this one included. */
  readonly live: number;
  /** Until a partition that is not held by `instance` is free, in milliseconds; 0 when one is, null when it holds all. */
  readonly freeInMs: number | null;
}

export async function readBalance(db: Db, instance: string): Promise<Balance> {
  const { rows } = await sql<Balance>`
    select (select count(*)::int from members where expires_at > now()) as live,
      (select greatest(0, extract(epoch from min(coalesce(expires_at, now())) - now()) * 1000)::float8
        from partitions where owner is distinct from ${instance}) as "freeInMs"`.execute(db);
  return rows[0] ?? { live: 1, freeInMs: null };
}

/** Ends all leases. Only for a process that knows that no other can be running on this database. */
export async function endAllLeases(db: Db): Promise<void> {
  await sql`with gone as (delete from members) update partitions set owner = null, expires_at = null`.execute(
    db,
  );
}

/**
 * Gives partitions back, for anyone to take at once. It waits for no commit: `acquire` passes over a partition while a
 * commit is in progress there, and a commit that has not begun finds its lease lost.
 */
export async function giveBack(db: Db, instance: string, partitions: readonly number[]): Promise<void> {
  await sql`
    with mine as materialized (
      select id from partitions where owner = ${instance} and id = any(${[...partitions]})
      order by id for no key update
    )
    update partitions p set owner = null, expires_at = null from mine where p.id = mine.id`.execute(db);
}

export async function leave(db: Db, instance: string): Promise<void> {
  await sql`delete from members where instance = ${instance}`.execute(db);
}

/**
 * Ends the epochs of `given`, so that no commit under them is in progress or can still be written, and answers the leases
 * that this process holds under the next ones. A commit in progress has locked the rows, and `for update` waits for it (a
 * plain update would not); a later one finds another epoch. Partitions that were given back meanwhile are locked as well:
 * `giveBack` waits for no commit. An epoch that is over already was ended with the same lock, here or by `acquire`; its
 * row is not locked, so that no other owner's commits wait.
 */
export async function raiseEpochs(db: Db, instance: string, given: readonly Lease[]): Promise<Lease[]> {
  const { rows } = await sql<{ id: number; epoch: number }>`
    with current as materialized (
      select p.id from partitions p
      join jsonb_to_recordset(cast(${JSON.stringify(given)} as jsonb)) as l (partition smallint, epoch bigint)
        on p.id = l.partition
      where p.epoch = l.epoch
      order by p.id for update of p
    ), raised as (
      update partitions p set epoch = p.epoch + 1 from current where p.id = current.id
      returning p.id, p.epoch, p.owner
    )
    select id, epoch from raised where owner = ${instance}`.execute(db);
  return leases(rows);
}

/** The process that holds each partition now; partitions whose lease has expired are absent. */
export async function readOwners(db: Db): Promise<Map<number, string>> {
  const { rows } = await sql<{ id: number; owner: string }>`
    select id, owner from partitions where owner is not null and expires_at > now()`.execute(db);
  return new Map(rows.map(({ id, owner }) => [id, owner]));
}
