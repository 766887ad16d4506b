import { ServiceError } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { type Kysely, sql } from 'kysely';
import type { DirectoryDb, DirectorySchema } from '../tables/directory.js';
import type { Db } from '../tables/schema.js';

/** Which databases there are, and the one of each partition. */
export interface HomeMap {
  /** In the order of their ids. */
  readonly databases: readonly string[];
  readonly homes: ReadonlyMap<number, string>;
}

export async function readHomeMap(directory: DirectoryDb): Promise<HomeMap> {
  const databases = await directory.selectFrom('databases').select('id').orderBy('id').execute();
  const homes = await directory.selectFrom('homes').select(['partition', 'database']).execute();
  return {
    databases: databases.map(({ id }) => id),
    homes: new Map(homes.map(({ partition, database }) => [partition, database])),
  };
}

/** The id of the deployment with an address, wherever it lives. */
export async function placeOf(directory: DirectoryDb, address: string): Promise<number | undefined> {
  const found = await directory
    .selectFrom('places')
    .select('deployment_id')
    .where('address', '=', address)
    .executeTakeFirst();
  return found?.deployment_id;
}

interface NewPlace {
  readonly address: string;
  readonly accountId: number;
  /** How many deployments the account may have; null for any number. */
  readonly quota: number | null;
  /** The partitions of which one is to have it. */
  readonly partitions: readonly number[];
}

/** Ids drawn at once: those of other partitions are left out, so ids only grow. */
const DRAWN = 16;

/**
 * Writes the place of a deployment that is about to be created, and answers its id. The creations of an account with a quota
 * wait for each other. @throws `quota_exceeded`
 */
export function takePlace(
  directory: DirectoryDb,
  { address, accountId, quota, partitions }: NewPlace,
): Promise<number> {
  return transaction(directory, async (trx) => {
    if (quota !== null) await refuseBeyond(trx, accountId, quota);
    const id = await drawId(trx, partitions);
    await trx.insertInto('places').values({ deployment_id: id, address, account_id: accountId }).execute();
    return id;
  });
}

async function refuseBeyond(trx: Kysely<DirectorySchema>, accountId: number, quota: number): Promise<void> {
  await sql`select pg_advisory_xact_lock(hashtextextended('directory.quota', ${accountId}))`.execute(trx);
  const { rows } = await sql<{ count: number }>`
    select count(*)::int as count from places where account_id = ${accountId} and deleted_at is null`.execute(
    trx,
  );
  if ((rows[0]?.count ?? 0) < quota) return;
  throw new ServiceError('quota_exceeded', `The account may have at most ${quota} deployments.`);
}

async function drawId(trx: Kysely<DirectorySchema>, partitions: readonly number[]): Promise<number> {
  if (partitions.length === 0) throw new ServiceError('unavailable', 'No partition lives in this database.');
  for (;;) {
    const { rows } = await sql<{ id: number }>`
      select id from (select nextval('deployment_ids') as id from generate_series(1, ${DRAWN})) drawn
      where id % 64 = any(${[...partitions]}) order by id limit 1`.execute(trx);
    if (rows[0] !== undefined) return rows[0].id;
  }
}

/** Lets ids go on beyond those of a database that gave them out by itself until now, and may do so a little longer. */
export async function raiseIds(db: Db, directory: DirectoryDb): Promise<void> {
  const { rows } = await sql<{ highest: number }>`
    select coalesce(max(id), 0)::bigint as highest from deployments`.execute(db);
  const from = (rows[0]?.highest ?? 0) + IDS_LEFT;
  await sql`select setval('deployment_ids', ${from}) from deployment_ids where last_value < ${from}`.execute(
    directory,
  );
}

/** Databases that a directory may name: each has a partition at least. */
const MOST_DATABASES = 64;

/**
 * Lets the blocks of ids for bindings and instances of this database differ from those of all others, so that its rows can move
 * to any of them: block n of the database in place p has a number that leaves p when divided by 64.
 */
export async function spreadIdBlocks(db: Db, directory: DirectoryDb, id: string): Promise<void> {
  const { place } = await directory
    .selectFrom('databases')
    .select('place')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  await transaction(db, async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('runtime.id-blocks'))`.execute(trx);
    const { rows } = await sql<{ increment: number; last: number }>`
      select s.seqincrement as increment, b.last_value as last from pg_sequence s, id_blocks b
      where s.seqrelid = 'id_blocks'::regclass`.execute(trx);
    const { increment = 1, last = 1 } = rows[0] ?? {};
    if (increment === MOST_DATABASES) return;
    // Blocks that others take until this commits are smaller.
    const next = (Math.floor(last / MOST_DATABASES) + 2) * MOST_DATABASES + place;
    await sql
      .raw(`alter sequence id_blocks increment by ${MOST_DATABASES} restart with ${next}`)
      .execute(trx);
  });
}

/** More than all processes create until they have read that there is a second database. */
const IDS_LEFT = 10_000;

/** The creation has failed for certain. */
export async function giveUpPlace(directory: DirectoryDb, deploymentId: number): Promise<void> {
  await directory.deleteFrom('places').where('deployment_id', '=', deploymentId).execute();
}

/** The deployment counts towards no quota any more. */
export async function endPlace(directory: DirectoryDb, deploymentId: number): Promise<void> {
  await sql`
    update places set deleted_at = now() where deployment_id = ${deploymentId} and deleted_at is null`.execute(
    directory,
  );
}

/**
 * The database in which a request with an Idempotency-Key is carried out: the one that its first sending chose, whose keys
 * say whether it was carried out.
 */
export async function databaseOfCreation(
  directory: DirectoryDb,
  { accountId, operation, key }: { accountId: number; operation: string; key: string },
  chosen: string,
): Promise<string> {
  await sql`
    insert into creations (account_id, operation, key, database) values (${accountId}, ${operation}, ${key}, ${chosen})
    on conflict do nothing`.execute(directory);
  const { rows } = await sql<{ database: string }>`
    select database from creations where account_id = ${accountId} and operation = ${operation} and key = ${key}`.execute(
    directory,
  );
  return rows[0]?.database ?? chosen;
}

/** Locks a partition against leaving this database until the transaction ends. @returns whether it is here */
export async function holdHere(trx: Db, partition: number): Promise<boolean> {
  const { rows } = await sql`
    select from partitions where id = ${partition} and generation > 0 for key share`.execute(trx);
  return rows.length === 1;
}

/** Rows that a pass compares at once. */
const COMPARED = 5000;
/** A place without a deployment is kept for as long: its creation may be under way. */
const UNDER_WAY = sql`interval '10 minutes'`;
/** Idempotency-Keys are kept for a day. */
const REPEATABLE = sql`interval '2 days'`;

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
  const here = rows.filter(({ id }) => partitions.includes(id % 64));
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

async function deleteFailed(
  db: Db,
  directory: DirectoryDb,
  partitions: readonly number[],
  after: number,
  last = Number.MAX_SAFE_INTEGER,
): Promise<void> {
  const { rows } = await sql<{ id: number }>`
    select deployment_id as id from places where deployment_id > ${after} and deployment_id <= ${last}
      and deployment_id % 64 = any(${[...partitions]}) and made_at < now() - ${UNDER_WAY}
    order by deployment_id limit ${2 * COMPARED}`.execute(directory);
  const ids = rows.map(({ id }) => id);
  const { rows: gone } = await sql<{ id: number }>`
    select id from unnest(${ids}::bigint[]) as id where not exists (select from deployments d where d.id = id.id)`.execute(
    db,
  );
  if (gone.length > 0)
    await directory
      .deleteFrom('places')
      .where(
        'deployment_id',
        'in',
        gone.map(({ id }) => id),
      )
      .execute();
  await sql`delete from creations where made_at < now() - ${REPEATABLE}`.execute(directory);
}
