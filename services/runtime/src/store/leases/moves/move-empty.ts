import { transaction } from '@orrery/database';
import { StartupError } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { Db } from '../../tables/schema.js';
import { refuseTooEarly } from '../add-database.js';
import { databaseId } from '../homes.js';
import {
  forgetMove,
  generationIn,
  noteMove,
  type Parties,
  refuseUndone,
  switchHome,
  undoneMeanwhile,
} from './change-home.js';

/** Whether there is no deployment in a partition, nor one that is leaving. */
export async function isEmpty(db: Db, partition: number): Promise<boolean> {
  const { rows } = await sql`
    select from deployments where id % 64 = ${partition} union all
    select from departed_deployments where id % 64 = ${partition} limit 1`.execute(db);
  return rows.length === 0;
}

/**
 * Lets partitions in which there is no deployment live in another database. The source's row gets generation 0 and the next
 * epoch, under a lock that waits for commits and creations; then the target's row gets the next generation; then the directory
 * names the target, which decides. Whoever stops in between does it again, or undoes it: the move is noted meanwhile.
 * @throws StartupError for one with deployments, which `movePartition` moves
 */
export async function moveEmptyPartition(
  between: Pick<Parties, 'source' | 'target' | 'directory'>,
  partition: number,
): Promise<void> {
  const { source, target, directory } = between;
  const [from, to] = [await databaseId(source), await databaseId(target)];
  const home = await directory
    .selectFrom('homes')
    .select(['database', 'generation'])
    .where('partition', '=', partition)
    .executeTakeFirstOrThrow();
  if (home.database === to) return;
  if (home.database !== from) throw new StartupError(`The partition ${partition} lives in another database.`);
  await refuseTooEarly(directory);
  const parties: Parties = { ...between, partition, from, to };
  await noteMove(parties);
  // A target may have it from before the directory was restored, under a greater one.
  const generation = Math.max(home.generation + 2, await generationIn(target, partition));
  await endEmpty(parties);
  await arriveEmpty(parties, generation);
  if (!(await switchHome(parties, generation))) throw undoneMeanwhile(parties);
  await forgetMove(parties);
}

/** Ends the ownership of a partition without deployments at the source, as `fence` does of others. */
async function endEmpty(parties: Parties): Promise<void> {
  const { source, partition } = parties;
  await transaction(source, async (trx) => {
    await sql`select from partitions where id = ${partition} for update`.execute(trx);
    await refuseUndone(parties);
    if (!(await isEmpty(trx, partition)))
      throw new StartupError(`The partition ${partition} has deployments by now: try again.`);
    await sql`
      update partitions set generation = 0, owner = null, expires_at = null, epoch = epoch + 1
      where id = ${partition}`.execute(trx);
  });
}

/** Lets the partition be at the target, as `arrive` does of others: an undone move leaves nothing there. */
async function arriveEmpty(parties: Parties, generation: number): Promise<void> {
  const { source, target, partition } = parties;
  await transaction(target, async (trx) => {
    await sql`select from partitions where id = ${partition} for update`.execute(trx);
    await refuseUndone(parties);
    if ((await generationIn(source, partition)) !== 0) throw undoneMeanwhile(parties);
    await sql`update partitions set generation = ${generation} where id = ${partition}`.execute(trx);
  });
}
