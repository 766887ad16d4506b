import { sql } from 'kysely';
import type { DirectoryDb } from '../../tables/directory.js';
import type { Db } from '../../tables/schema.js';
import type { Parties } from './change-home.js';
import { lockedWhenFree } from './locked-when-free.js';
import type { Waiting } from './move-news.js';

/** Of the numbers of blocks every 64th is of one database (`spreadIdBlocks`). */
const DATABASES = 64;
/** Numbers that the source may still give out before nobody owns the partition. */
const AHEAD = 1000 * DATABASES;

/**
 * What the target gives out from now on is greater than what comes. Done before nobody owns the partition: a clone's transaction
 * may keep the sequence for long. `isLast`: the source gives out no more for the partition.
 */
export async function raiseSequences(
  parties: Parties,
  waiting: Waiting,
  check: () => Promise<void>,
  isLast: boolean,
): Promise<void> {
  await raiseBlocks(parties, waiting, check, isLast ? 0 : AHEAD);
  await raiseNumbers(parties);
}

async function lastBlock(db: Db): Promise<number> {
  const { rows } = await sql<{ last: number }>`select last_value as last from id_blocks`.execute(db);
  return rows[0]?.last ?? 0;
}

/** New bindings and instances get greater ids than those that come, from blocks that are the target's own. */
async function raiseBlocks(
  { source, target, directory, to }: Parties,
  waiting: Waiting,
  check: () => Promise<void>,
  ahead: number,
): Promise<void> {
  const last = (await lastBlock(source)) + ahead;
  if ((await lastBlock(target)) > last) return;
  const next = (Math.floor((last + ahead) / DATABASES) + 2) * DATABASES + (await placeIn(directory, to));
  const raise = async (trx: Db) => {
    await sql`select pg_advisory_xact_lock(hashtext('runtime.id-blocks'))`.execute(trx);
    // Nobody takes a block until this commits.
    await sql.raw('alter sequence id_blocks no cycle').execute(trx);
    if ((await lastBlock(trx)) > last) return;
    await sql.raw(`alter sequence id_blocks restart with ${next}`).execute(trx);
  };
  await lockedWhenFree(target, { schema: 'runtime', names: ['id_blocks'] }, raise, waiting, check);
}

async function placeIn(directory: DirectoryDb, id: string): Promise<number> {
  const { place } = await directory
    .selectFrom('databases')
    .select('place')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return place;
}

/** New payments are listed after those that come. Numbers need not differ. */
async function raiseNumbers({ source, target }: Parties): Promise<void> {
  const { rows } = await sql<{ last: number }>`select last_value as last from payments_number_seq`.execute(
    source,
  );
  const last = rows[0]?.last ?? 1;
  await sql`
    select setval('payments_number_seq', ${last}) from payments_number_seq where last_value < ${last}`.execute(
    target,
  );
}
