import { sql } from 'kysely';
import type { DirectoryDb } from '../tables/directory.js';
import type { Db } from '../tables/schema.js';
import { databaseId, disagreements, homesOf, keptHere } from './homes.js';

/** A partition that a database has, and that lives in another one by the directory. One of the two was restored. */
export interface Strayed {
  readonly partition: number;
  /** The name of the database in which it lives by the directory. */
  readonly home: string;
}

/**
 * A move lets a partition be at its target a moment before the directory says so, and may begin or end between both reads: so
 * those that are on their way do not count, nor what is not so twice. Owners raise generations beyond the one that a move gives.
 */
export async function strayedPartitions(db: Db, directory: DirectoryDb): Promise<Strayed[]> {
  const id = await databaseId(db);
  const find = async (): Promise<Strayed[]> => {
    const kept = JSON.stringify(await keptHere(db));
    const { rows } = await sql<Strayed>`
      select k.partition, d.name as home
      from jsonb_to_recordset(cast(${kept} as jsonb)) as k (partition smallint, generation bigint)
      join homes h on h.partition = k.partition and h.database <> ${id} join databases d on d.id = h.database
      where not exists (
        select from moves m where m.partition = k.partition and m.target = ${id} and k.generation <= h.generation + 2)
      order by k.partition`.execute(directory);
    return rows;
  };
  const before = new Set((await find()).map(({ partition }) => partition));
  return before.size === 0 ? [] : (await find()).filter(({ partition }) => before.has(partition));
}

/** A partition that lives in a database by the directory, and that the database has not. */
export interface Absent {
  readonly partition: number;
  /** The database to which it is on its way by the directory; null where it is not. */
  readonly movesTo: string | null;
}

export async function absentPartitions(db: Db, directory: DirectoryDb): Promise<Absent[]> {
  const id = await databaseId(db);
  const { rows: moves } = await sql<{ partition: number; to: string }>`
    select partition, d.name as to from moves join databases d on d.id = target where source = ${id}`.execute(
    directory,
  );
  const ways = new Map(moves.map(({ partition, to }) => [partition, to]));
  return disagreements(await homesOf(directory, id), await keptHere(db)).flatMap(({ partition, here }) =>
    here === 0 ? [{ partition, movesTo: ways.get(partition) ?? null }] : [],
  );
}
