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

/**
 * Takes up to `limit` partitions that no process holds any more, each under a new epoch. `for update skip locked` leaves
 * out partitions that a commit has locked, so no partition is taken during a commit.
 */
export async function acquire(db: Db, instance: string, ttlMs: number, limit: number): Promise<Lease[]> {
  const { rows } = await sql<{ id: number; epoch: number }>`
    update partitions set owner = ${instance}, epoch = epoch + 1, expires_at = ${later(ttlMs)}
    where id in (
      select id from partitions where owner is null or expires_at < now()
      order by id limit ${limit} for update skip locked
    ) returning id, epoch`.execute(db);
  return leases(rows);
}

/** Gives partitions back, for anyone to take at once. A commit does not hold it up: they have been drained. */
export async function giveBack(db: Db, instance: string, partitions: readonly number[]): Promise<void> {
  await sql`
    update partitions set owner = null, expires_at = null
    where owner = ${instance} and id = any(${[...partitions]})`.execute(db);
}

export async function leave(db: Db, instance: string): Promise<void> {
  await sql`delete from members where instance = ${instance}`.execute(db);
}

/**
 * Raises the epochs of partitions that are still held, and answers their leases. A commit of ours that is in progress has
 * locked the rows, and `for update` waits for it (a plain update would not); a later one finds another epoch.
 */
export async function raiseEpochs(db: Db, instance: string, held: readonly Lease[]): Promise<Lease[]> {
  const { rows } = await sql<{ id: number; epoch: number }>`
    with mine as materialized (
      select p.id from partitions p
      join jsonb_to_recordset(cast(${JSON.stringify(held)} as jsonb)) as l (partition smallint, epoch bigint)
        on p.id = l.partition
      where p.owner = ${instance} and p.epoch = l.epoch
      order by p.id for update of p
    )
    update partitions p set epoch = p.epoch + 1 from mine where p.id = mine.id returning p.id, p.epoch`.execute(
    db,
  );
  return leases(rows);
}

/** The process that holds each partition now; partitions whose lease has expired are absent. */
export async function readOwners(db: Db): Promise<Map<number, string>> {
  const { rows } = await sql<{ id: number; owner: string }>`
    select id, owner from partitions where owner is not null and expires_at > now()`.execute(db);
  return new Map(rows.map(({ id, owner }) => [id, owner]));
}
