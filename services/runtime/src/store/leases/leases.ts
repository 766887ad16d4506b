import { sql } from 'kysely';
import type { Db } from '../tables/schema.js';
import type { Home } from './homes.js';

/** Deployments are owned in this many partitions; the number never changes once a database has been made. */
export const PARTITIONS = 64;

export const partitionOf = (deploymentId: number): number => deploymentId % PARTITIONS;

/**
 * The order in which partitions are taken; they are given back from its end. It reverses the six bits of the number, so
 * that the deployments of neighbouring ids are spread: of two processes one has the even and one the odd partitions.
 */
export const takingOrder = (partition: number): number =>
  [0, 1, 2, 3, 4, 5].reduce((order, bit) => order | (((partition >> bit) & 1) << (5 - bit)), 0);

/** A partition held by this process, and the epoch under which it is held. */
export interface Lease {
  readonly partition: number;
  readonly epoch: number;
}

/** This process does not own the deployment (any more): the call belongs to another. Never leaves the runtime. */
export class NotOwner extends Error {
  override readonly name = 'NotOwner';
  readonly partition: number;

  constructor(partition: number) {
    super(`partition ${partition} is not owned here`);
    this.partition = partition;
  }
}

interface HeldPartitionsEvents {
  /** An epoch is over: the states in memory of the partition are invalid. */
  readonly onEpochOver: (partition: number) => void;
  /** The partition is not held any more, under any epoch. */
  readonly onGone: (partition: number) => void;
  readonly onTaken: (partition: number) => void;
}

export type HeldPartitions = ReturnType<typeof createHeldPartitions>;

/** The partitions of this process as it last knew. Each commit checks the leases in the database, so a delay is safe. */
export function createHeldPartitions({ onEpochOver, onGone, onTaken }: HeldPartitionsEvents) {
  const epochs = new Map<number, number>();
  const draining = new Set<number>();
  const drop = (partitions: readonly number[]): void => {
    for (const partition of partitions) {
      draining.delete(partition);
      if (!epochs.delete(partition)) continue;
      onEpochOver(partition);
      onGone(partition);
    }
  };
  return {
    /** The epoch under which a partition is held and served; `undefined` when it is not, or is being handed over. */
    epochOf: (partition: number): number | undefined =>
      draining.has(partition) ? undefined : epochs.get(partition),
    all: (): Lease[] => [...epochs].map(([partition, epoch]) => ({ partition, epoch })),
    hold: (leases: readonly Lease[]): void => {
      for (const { partition, epoch } of leases) {
        // Epochs only grow: an older one comes from a late answer.
        const before = epochs.get(partition);
        if (before !== undefined && before >= epoch) continue;
        epochs.set(partition, epoch);
        if (before !== undefined) onEpochOver(partition);
        onTaken(partition);
      }
    },
    /** No new work for these: they are about to be given back. A new epoch does not change that. */
    drain: (partitions: readonly number[]): void => {
      for (const partition of partitions) draining.add(partition);
    },
    drop,
    /** Drops those that are held under these very epochs: another may have been taken since. */
    dropLost: (leases: readonly Lease[]): void => {
      for (const { partition, epoch } of leases) if (epochs.get(partition) === epoch) drop([partition]);
    },
  };
}

/** What a process stores to say that it is alive, and stores anew in time. */
export interface Announced {
  /** Tells one announcement from the next. */
  readonly mark: string;
  /** By the database's clock, in milliseconds; null for one that nobody holds. */
  readonly leftMs: number | null;
}

const leases = (rows: { id: number; epoch: number }[]): Lease[] =>
  rows.map(({ id, epoch }) => ({ partition: id, epoch }));

const later = (ttlMs: number) => sql<Date>`now() + ${ttlMs} * interval '1 millisecond'`;

/** Records that this process is alive. Times are those of the database's clock. */
export async function announce(db: Db, instance: string, ttlMs: number): Promise<void> {
  await sql`
    insert into members (instance, expires_at) values (${instance}, ${later(ttlMs)})
    on conflict (instance) do update set expires_at = excluded.expires_at`.execute(db);
  await sql`delete from members where expires_at < now() - interval '1 minute'`.execute(db);
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
 * Takes up to `limit` partitions of `homes` that no process holds any more, each under a new epoch: those that were given
 * back, and those of `over` that were not renewed since they were read. `for update skip locked` leaves out partitions that a
 * commit has locked, so no partition is taken during a commit. A partition of another generation is not taken: it is compared
 * in the row that is locked, so one that leaves meanwhile is not taken either.
 */
export async function acquire(
  db: Db,
  instance: string,
  ttlMs: number,
  {
    limit,
    over,
    homes,
  }: {
    readonly limit: number;
    readonly over: readonly (Lease & { readonly mark: string })[];
    readonly homes: readonly Home[];
  },
): Promise<Lease[]> {
  const { rows } = await sql<{ id: number; epoch: number }>`
    update partitions set owner = ${instance}, epoch = epoch + 1, expires_at = ${later(ttlMs)}
    where id in (
      select id from partitions p where (owner is null or exists (
        select from jsonb_to_recordset(cast(${JSON.stringify(over)} as jsonb)) as o (partition smallint, epoch bigint, mark text)
        where o.partition = p.id and o.epoch = p.epoch and o.mark = p.owner || ' ' || p.expires_at::text))
      and exists (
        select from jsonb_to_recordset(cast(${JSON.stringify(homes)} as jsonb)) as h (partition smallint, generation bigint)
        where h.partition = p.id and p.generation between h.generation and h.generation + 1)
      order by ${TAKING_ORDER} limit ${limit} for update skip locked
    ) returning id, epoch`.execute(db);
  return leases(rows);
}

/** The leases of other processes, and the announcements of all, as they were read. */
export interface Balance {
  /** Of partitions that `instance` does not hold; those that live in another database are left out. */
  readonly others: readonly (Lease & Announced & Home)[];
  readonly members: readonly (Announced & { readonly instance: string })[];
}

const LEFT = sql`(extract(epoch from expires_at - now()) * 1000)::float8 as "leftMs"`;

export async function readBalance(db: Db, instance: string): Promise<Balance> {
  const { rows: others } = await sql<Balance['others'][number]>`
    select id as partition, epoch, generation, coalesce(owner || ' ' || expires_at::text, '') as mark, ${LEFT}
    from partitions where owner is distinct from ${instance} and generation > 0`.execute(db);
  const { rows: members } = await sql<Balance['members'][number]>`
    select instance, expires_at::text as mark, ${LEFT} from members`.execute(db);
  return { others, members };
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
