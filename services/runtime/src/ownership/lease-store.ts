import { sql } from 'kysely';
import type { Db } from '../database/db.js';

/** A partition held by this process, and the epoch under which it is held. */
export interface Lease {
  readonly partition: number;
  readonly epoch: number;
}

const leases = (rows: { id: number; epoch: number }[]): Lease[] =>
  rows.map(({ id, epoch }) => ({ partition: id, epoch }));

const later = (ttlMs: number) => sql<Date>`now() + ${ttlMs} * interval '1 millisecond'`;

/** Tells the others that this process is alive, and counts those that are. The database's clock rules. */
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
 * Prolongs what is held and answers it; what is missing in the answer has been lost. It waits for no commit, and locks in
 * the order in which all do that lock several.
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
 * Takes up to `limit` partitions that nobody holds any more, each under a new epoch. `for update` passes over those that
 * a commit has locked: it is what keeps the two apart.
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
 * Raises the epoch of partitions that are still held: a commit of ours that may be on its way is waited for (it has locked
 * the rows, which `for update` respects and a plain update would not) or will find another epoch. Answers the leases
 * that are still ours.
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

/** Who holds which partition now; expired leases count as held by nobody. */
export async function readOwners(db: Db): Promise<Map<number, string>> {
  const { rows } = await sql<{ id: number; owner: string }>`
    select id, owner from partitions where owner is not null and expires_at > now()`.execute(db);
  return new Map(rows.map(({ id, owner }) => [id, owner]));
}
