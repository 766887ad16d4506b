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

/** Whether there is no deployment in a partition, nor one that is leaving. */
export async function isEmpty(db: Db, partition: number): Promise<boolean> {
  const { rows } = await sql`
    select from deployments where id % 64 = ${partition} union all
    select from departed_deployments where id % 64 = ${partition} limit 1`.execute(db);
  return rows.length === 0;
}

/** Every process has read by then that there are several databases, in seconds. */
export const NOTICED_S = 10;

/**
 * Lets partitions in which there is no deployment live in another database. The source's row gets generation 0 and the next
 * epoch, under a lock that waits for commits and creations; then the target's row gets the next generation; then the directory
 * names the target, which decides. Whoever stops in between does it again. @throws StartupError for one with deployments, which
 * `movePartition` moves
 */
export async function moveEmptyPartition(
  {
    source,
    target,
    directory,
  }: { readonly source: Db; readonly target: Db; readonly directory: DirectoryDb },
  partition: number,
): Promise<void> {
  const [from, to] = [await databaseId(source), await databaseId(target)];
  const home = await directory
    .selectFrom('homes')
    .select(['database', 'generation'])
    .where('partition', '=', partition)
    .executeTakeFirstOrThrow();
  if (home.database === to) return;
  if (home.database !== from) throw new StartupError(`The partition ${partition} lives in another database.`);
  await refuseTooEarly(directory);
  const generation = home.generation + 2;
  await transaction(source, async (trx) => {
    await sql`select from partitions where id = ${partition} for update`.execute(trx);
    if (!(await isEmpty(trx, partition)))
      throw new StartupError(`The partition ${partition} has deployments by now: try again.`);
    await sql`
      update partitions set generation = 0, owner = null, expires_at = null, epoch = epoch + 1
      where id = ${partition}`.execute(trx);
  });
  await sql`update partitions set generation = ${generation} where id = ${partition}`.execute(target);
  await sql`
    update homes set database = ${to}, generation = ${generation}
    where partition = ${partition} and database = ${from}`.execute(directory);
}

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
