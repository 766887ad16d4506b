import { type RawBuilder, sql } from 'kysely';
import { PARTITIONS } from '../leases/leases.js';
import type { Db } from '../tables/schema.js';

/** A journal with entries that may not be published yet: those after `published`, up to `head`. */
export interface UnpublishedJournal {
  readonly deploymentId: number;
  readonly address: string;
  readonly worldAddress: string;
  readonly published: number;
  readonly head: number;
}

const unpublished = async (
  db: Db,
  condition: RawBuilder<unknown>,
  limit: number,
): Promise<UnpublishedJournal[]> => {
  const { rows } = await sql<UnpublishedJournal>`
    select h.deployment_id as "deploymentId", d.address, d.world_address as "worldAddress", h.published, h.seq as head
    from journal_heads h join deployments d on d.id = h.deployment_id
    where h.published < h.seq and ${condition} order by h.deployment_id limit ${limit}`.execute(db);
  return rows;
};

const inPartitions = (partitions: readonly number[]) =>
  sql`h.deployment_id % ${PARTITIONS} = any(${partitions}::bigint[])`;

/** A page of these journals in some partitions. Reads the heads of all deployments: for a new owner of the partitions. */
export const unpublishedIn = (db: Db, partitions: readonly number[], after: number, limit: number) =>
  unpublished(db, sql`${inPartitions(partitions)} and h.deployment_id > ${after}`, limit);

/**
 * Those of the journals whose last entry is one to `minutes` minutes old, by an index: what was committed and left, by a
 * process that died after it created a deployment.
 */
export const unpublishedSince = (db: Db, partitions: readonly number[], minutes: number, limit: number) =>
  unpublished(
    db,
    sql`${inPartitions(partitions)} and h.active_minute between
      floor(extract(epoch from now()) / 60)::integer - ${minutes}::integer
      and floor(extract(epoch from now()) / 60)::integer - 1`,
    limit,
  );

/** The journal of one deployment, if it is one of these. */
export const unpublishedOf = async (db: Db, address: string): Promise<UnpublishedJournal | undefined> =>
  (await unpublished(db, sql`d.address = ${address}`, 1))[0];

/** Entries of one journal that this process has published, without a gap. */
export interface PublishedRange {
  readonly deploymentId: number;
  readonly first: number;
  readonly last: number;
}

/**
 * Notes what is published. A range that does not follow what is noted already is not noted: something before it is still to
 * be published. Nor is one that a journal does not have, since its end was lost. Rows that a commit holds are passed over,
 * so that the two never wait for each other.
 *
 * @returns the journals that were reached, as they were before; the others are to be noted the next time
 */
export async function notePublished(
  db: Db,
  ranges: readonly PublishedRange[],
): Promise<UnpublishedJournal[]> {
  const { rows } = await sql<UnpublishedJournal>`
    with n as (
      select * from unnest(${ranges.map(({ deploymentId }) => deploymentId)}::bigint[],
        ${ranges.map(({ first }) => first)}::bigint[], ${ranges.map(({ last }) => last)}::bigint[]) as n (id, first, last)
    ), reached as materialized (
      select h.deployment_id as id, h.published, h.seq, n.first, n.last from journal_heads h join n on n.id = h.deployment_id
      where h.deployment_id between 1 and ${Number.MAX_SAFE_INTEGER}
      for no key update of h skip locked
    ), noted as (
      update journal_heads h set published = r.last from reached r
      where h.deployment_id = r.id and h.deployment_id between 1 and ${Number.MAX_SAFE_INTEGER}
        and h.published >= r.first - 1 and h.published < r.last and r.last <= h.seq
    )
    select d.id as "deploymentId", d.address, d.world_address as "worldAddress", r.published, r.seq as head
    from reached r join deployments d on d.id = r.id`.execute(db);
  return rows;
}

/** Removes what processes of the release before left in the outbox for partitions whose heads were read. */
export async function clearOutbox(db: Db, partitions: readonly number[]): Promise<void> {
  await sql`delete from outbox where shard = any(${partitions}::smallint[])`.execute(db);
}
