import { sql } from 'kysely';
import type { DirectoryDb } from '../tables/directory.js';
import type { Db } from '../tables/schema.js';
import { NOTICED_S } from './add-database.js';
import { PARTITIONS, partitionOf } from './leases.js';

/** Rows that a pass compares at once. */
const COMPARED = 5000;
/** A place without a deployment is kept for as long: its creation may be under way. */
const UNDER_WAY = sql`interval '10 minutes'`;

/**
 * Lets places agree with the deployments of this database, from an id on: adds those that are missing (an earlier release, or a
 * time with one database, wrote none), ends those of deleted deployments, and deletes those whose creation failed.
 * @returns where to go on, or undefined at the end
 */
export async function comparePlaces(
  db: Db,
  directory: DirectoryDb,
  partitions: readonly number[],
  after: number,
): Promise<number | undefined> {
  const { rows } = await sql<{ id: number; address: string; account: number; deleted: boolean }>`
    select id, address, owner_account_id as account, deleted_at is not null as deleted from deployments
    where id > ${after} order by id limit ${COMPARED}`.execute(db);
  const here = rows.filter(({ id }) => partitions.includes(partitionOf(id)));
  const last = rows.length < COMPARED ? undefined : rows.at(-1)?.id;
  await sql`
    insert into places as p (deployment_id, address, account_id, deleted_at)
    select id, address, account, case when deleted then now() end
    from jsonb_to_recordset(cast(${JSON.stringify(here)} as jsonb)) as d (id bigint, address text, account bigint, deleted boolean)
    on conflict (deployment_id) do update set deleted_at = excluded.deleted_at
      where p.deleted_at is null and excluded.deleted_at is not null`.execute(directory);
  await deleteFailed(db, directory, partitions, after, last);
  return last;
}

/** By the clock of the directory. */
export async function directoryTime(directory: DirectoryDb): Promise<Date> {
  const { rows } = await sql<{ now: Date }>`select now() as now`.execute(directory);
  return rows[0]?.now ?? new Date(0);
}

/**
 * Notes that all places of a database are in the directory, after a pass that began at `begunAt`. One that began before every
 * process knew of several databases may have missed a deployment that was created without a place.
 */
export async function noteCompared(directory: DirectoryDb, id: string, begunAt: Date): Promise<void> {
  await sql`
    update databases set compared_at = now() where id = ${id} and compared_at is null
      and ${begunAt} > (select max(added_at) from databases) + ${NOTICED_S} * interval '1 second'`.execute(
    directory,
  );
}

async function deleteFailed(
  db: Db,
  directory: DirectoryDb,
  partitions: readonly number[],
  after: number,
  last = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select deployment_id as id from places where deployment_id > ${after} and deployment_id <= ${last}
      and deployment_id % ${PARTITIONS} = any(${[...partitions]}) and made_at < now() - ${UNDER_WAY}
    order by deployment_id limit ${2 * COMPARED}`.execute(directory);
  const ids = rows.map(({ id }) => id);
  // Deployments that have left are not in the table either.
  const { rows: gone } = await sql<{ id: number }>`
    select id from unnest(${ids}::bigint[]) as id where not exists (select from deployments d where d.id = id.id)
      and exists (select from partitions p where p.id = id.id % 64 and p.generation > 0)`.execute(db);
  if (gone.length > 0)
    await directory
      .deleteFrom('places')
      .where(
        'deployment_id',
        'in',
        gone.map(({ id }) => id),
      )
      .execute();
}
