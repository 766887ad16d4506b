import { transaction } from '@orrery/database';
import { sql } from 'kysely';
import type { DirectoryDb } from '../tables/directory.js';
import type { Db } from '../tables/schema.js';

/** Which databases there are, and the one of each partition. */
export interface HomeMap {
  /** In the order of their ids. */
  readonly databases: readonly string[];
  /** How the directory calls each. */
  readonly names: ReadonlyMap<string, string>;
  readonly homes: ReadonlyMap<number, string>;
  /** Databases with deployments whose places may not be in the directory yet. */
  readonly uncompared: ReadonlySet<string>;
}

export async function readHomeMap(directory: DirectoryDb): Promise<HomeMap> {
  const databases = await directory
    .selectFrom('databases')
    .select(['id', 'name', 'compared_at'])
    .orderBy('id')
    .execute();
  const homes = await directory.selectFrom('homes').select(['partition', 'database']).execute();
  return {
    databases: databases.map(({ id }) => id),
    names: new Map(databases.map(({ id, name }) => [id, name])),
    homes: new Map(homes.map(({ partition, database }) => [partition, database])),
    uncompared: new Set(databases.flatMap((one) => (one.compared_at === null ? one.id : []))),
  };
}

/** A partition that lives in a database, and its generation as the directory, or the database itself, has it. */
export interface Home {
  readonly partition: number;
  readonly generation: number;
}

/** A partition of which the directory and the database named by it disagree. */
export interface Disagreement {
  readonly partition: number;
  /** What the database has; 0 where the partition is not in it. */
  readonly here: number;
  /** What the directory has. */
  readonly there: number;
}

/**
 * The database raises a generation first and the directory after it, so the database may be ahead by one and is never
 * behind: behind is a database that was restored, further ahead a directory that was.
 */
const agree = (here: number, there: number): boolean => here === there || here === there + 1;

/** Of the partitions that the directory says live in a database: those of which the database says otherwise. */
export function disagreements(named: readonly Home[], kept: readonly Home[]): Disagreement[] {
  const here = new Map(kept.map(({ partition, generation }) => [partition, generation]));
  return named
    .map(({ partition, generation }) => ({ partition, here: here.get(partition) ?? 0, there: generation }))
    .filter((one) => one.here === 0 || !agree(one.here, one.there));
}

/** The partitions that this database has, with their generations. */
export async function keptHere(db: Db): Promise<Home[]> {
  const { rows } = await sql<Home>`
    select id as partition, generation from partitions where generation > 0 order by id`.execute(db);
  return rows;
}

/** The id of this database, made at the first call. */
export async function databaseId(db: Db): Promise<string> {
  await sql`insert into this_database (id) values (gen_random_uuid()) on conflict do nothing`.execute(db);
  const { rows } = await sql<{ id: string }>`select id from this_database`.execute(db);
  const [row] = rows;
  if (row === undefined) throw new Error('the database has no id');
  return row.id;
}

/** The same for a database that may not be migrated yet; `undefined` where it has none. */
export async function databaseIdIfMade(db: Db): Promise<string | undefined> {
  const { rows: found } = await sql<{ exists: boolean }>`
    select to_regclass('runtime.this_database') is not null as exists`.execute(db);
  if (found[0]?.exists !== true) return undefined;
  const { rows } = await sql<{ id: string }>`select id from runtime.this_database`.execute(db);
  return rows[0]?.id;
}

/** The databases of the directory, by name. */
export async function databasesIn(directory: DirectoryDb): Promise<{ id: string; name: string }[]> {
  return directory.selectFrom('databases').select(['id', 'name']).orderBy('name').execute();
}

/** Makes a database the first of a directory that has none yet, with the partitions that are in it. */
export function enterFirst(directory: DirectoryDb, id: string, kept: readonly Home[]): Promise<void> {
  return transaction(directory, async (trx) => {
    await sql`lock table databases in exclusive mode`.execute(trx);
    if ((await databasesIn(trx)).length > 0) return;
    await trx.insertInto('databases').values({ id, name: '1', place: 0 }).execute();
    if (kept.length > 0)
      await trx
        .insertInto('homes')
        .values(kept.map((home) => ({ ...home, database: id })))
        .execute();
  });
}

/** The partitions that live in a database by the directory. */
export function homesOf(directory: DirectoryDb, id: string): Promise<Home[]> {
  return directory
    .selectFrom('homes')
    .select(['partition', 'generation'])
    .where('database', '=', id)
    .orderBy('partition')
    .execute();
}

/** The partitions that are noted to leave a database: between `fenced` and `switched` it has them no more (docs/adr/0052). */
async function leavingFrom(directory: DirectoryDb, id: string): Promise<ReadonlySet<number>> {
  const rows = await directory.selectFrom('moves').select('partition').where('source', '=', id).execute();
  return new Set(rows.map(({ partition }) => partition));
}

/**
 * Raises the generations of the partitions that a process holds by one beyond the directory's, in the database. Rows are
 * locked in the order of their ids, as by every statement that locks several leases.
 */
export async function raiseHere(db: Db, instance: string, named: readonly Home[]): Promise<Home[]> {
  const { rows } = await sql<Home>`
    with mine as materialized (
      select p.id, h.generation from partitions p
      join jsonb_to_recordset(cast(${JSON.stringify(named)} as jsonb)) as h (partition smallint, generation bigint)
        on h.partition = p.id and p.generation between h.generation and h.generation + 1
      where p.owner = ${instance} order by p.id for no key update of p
    )
    update partitions p set generation = mine.generation + 1 from mine where p.id = mine.id
    returning p.id as partition, p.generation`.execute(db);
  return rows;
}

/** What `raiseHere` raised, in the directory. */
export async function raiseThere(directory: DirectoryDb, id: string, raised: readonly Home[]): Promise<void> {
  await sql`
    with mine as materialized (
      select h.partition, r.generation from homes h
      join jsonb_to_recordset(cast(${JSON.stringify(raised)} as jsonb)) as r (partition smallint, generation bigint)
        on r.partition = h.partition and h.generation = r.generation - 1
      where h.database = ${id} order by h.partition for no key update of h
    )
    update homes h set generation = mine.generation from mine where h.partition = mine.partition`.execute(
    directory,
  );
}

/**
 * Of the partitions that the directory says live in this database: those of which both disagree, apart from those that leave it.
 * A raise or a move may change one of the two between both reads, so only what differs twice is told.
 */
export async function lastingDisagreements(db: Db, directory: DirectoryDb): Promise<Disagreement[]> {
  const id = await databaseId(db);
  const compare = async () => {
    const [named, leaving] = [await homesOf(directory, id), await leavingFrom(directory, id)];
    const differing = disagreements(named, await keptHere(db));
    return differing.filter(({ partition, here }) => here > 0 || !leaving.has(partition));
  };
  const before = new Set((await compare()).map(({ partition }) => partition));
  return before.size === 0 ? [] : (await compare()).filter(({ partition }) => before.has(partition));
}

/** Locks a partition against leaving this database until the transaction ends. @returns whether it is here */
export async function holdHere(trx: Db, partition: number): Promise<boolean> {
  const { rows } = await sql`
    select from partitions where id = ${partition} and generation > 0 for key share`.execute(trx);
  return rows.length === 1;
}

/** Whether a partition is in this database. */
export async function isHere(db: Db, partition: number): Promise<boolean> {
  const { rows } = await sql`select from partitions where id = ${partition} and generation > 0`.execute(db);
  return rows.length === 1;
}

/** Those of the partitions that are not in this database. */
export async function awayFrom(db: Db, partitions: readonly number[]): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from partitions where id = any(${[...partitions]}) and generation = 0 order by id`.execute(db);
  return rows.map(({ id }) => id);
}
