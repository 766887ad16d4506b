import { transaction } from '@orrery/database';
import { StartupError } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { DirectoryDb } from '../tables/directory.js';
import type { Db } from '../tables/schema.js';
import { databaseId, databasesIn } from './homes.js';

/**
 * Names a new, empty database in the directory; one that is named so already stays as it is. Nothing lives in it until
 * partitions move there. @throws StartupError
 */
export async function addDatabase(db: Db, directory: DirectoryDb, name: string): Promise<void> {
  const id = await databaseId(db);
  const named = await databasesIn(directory);
  if (named.length === 0)
    throw new StartupError('The directory is empty: start a runtime on the first database before.');
  const known = named.find((one) => one.id === id || one.name === name);
  if (known?.id === id && known.name === name) return;
  if (known !== undefined) throw new StartupError(`The directory names the database ${known.name} already.`);
  await transaction(db, async (trx) => {
    await sql`lock table partitions in exclusive mode`.execute(trx);
    const { rows } = await sql`select from deployments limit 1`.execute(trx);
    if (rows.length > 0)
      throw new StartupError('The database has deployments: only an empty one can be added.');
    await sql`update partitions set generation = 0, owner = null, expires_at = null, epoch = epoch + 1`.execute(
      trx,
    );
  });
  await transaction(directory, async (trx) => {
    // While there was one database, no places were written.
    await sql`update databases set compared_at = null`.execute(trx);
    await sql`
      insert into databases (id, name, place, compared_at)
      select ${id}, ${name}, max(place) + 1, now() from databases`.execute(trx);
  });
}

/** The databases that the directory names, and how many partitions live in each. */
export async function listDatabases(
  directory: DirectoryDb,
): Promise<{ name: string; id: string; partitions: number }[]> {
  const { rows } = await sql<{ name: string; id: string; partitions: number }>`
    select d.name, d.id, count(h.partition)::int as partitions
    from databases d left join homes h on h.database = d.id group by d.id order by d.name`.execute(directory);
  return rows;
}

/** Whether a database is the one that the directory names so. */
export async function isDatabaseNamed(db: Db, directory: DirectoryDb, name: string): Promise<boolean> {
  const id = await databaseId(db);
  return (await databasesIn(directory)).some((one) => one.id === id && one.name === name);
}

/** Every process has read by then that there are several databases, in seconds. */
export const NOTICED_S = 10;

/** A process that does not know of several databases finds nothing in the second one. @throws StartupError */
export async function refuseTooEarly(directory: DirectoryDb): Promise<void> {
  const { rows } = await sql<{ left: number }>`
    select ceil(${NOTICED_S} - extract(epoch from now() - max(added_at)))::int as left from databases`.execute(
    directory,
  );
  const left = rows[0]?.left ?? 0;
  if (left > 0)
    throw new StartupError(`Runtimes have to notice the new database before: try again in ${left} seconds.`);
}
