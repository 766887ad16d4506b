import { ServiceError } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { type Kysely, sql } from 'kysely';
import type { DirectoryDb, DirectorySchema } from '../tables/directory.js';
import type { Db } from '../tables/schema.js';
import { PARTITIONS } from './leases.js';

/** Ids drawn at once: those of other partitions are left out, so ids only grow. */
const DRAWN = 16;

/** The next id, of all databases, of a deployment in one of these partitions. @throws `unavailable` where there is none */
export async function drawId(trx: Kysely<DirectorySchema>, partitions: readonly number[]): Promise<number> {
  if (partitions.length === 0) throw new ServiceError('unavailable', 'No partition lives in this database.');
  for (;;) {
    const { rows } = await sql<{ id: number }>`
      select id from (select nextval('deployment_ids') as id from generate_series(1, ${DRAWN})) drawn
      where id % ${PARTITIONS} = any(${[...partitions]}) order by id limit 1`.execute(trx);
    if (rows[0] !== undefined) return rows[0].id;
  }
}

/** More than all processes create until they have read that there is a second database. */
const IDS_LEFT = 10_000;

/**
 * Lets ids go on beyond those of a database that gave them out by itself until now, and may do so a little longer; and beyond
 * all that it has, where the directory is a new one. The next start changes nothing: the database's own ids stand still.
 */
export async function raiseIds(db: Db, directory: DirectoryDb): Promise<void> {
  const { rows } = await sql<{ highest: number }>`
    select greatest(last_value + ${IDS_LEFT}, (select max(id) from deployments))::bigint as highest
    from deployments_id_seq`.execute(db);
  const from = rows[0]?.highest ?? IDS_LEFT;
  await sql`select setval('deployment_ids', ${from}) from deployment_ids where last_value < ${from}`.execute(
    directory,
  );
}

/** Databases that a directory may name: each has a partition at least. */
const MOST_DATABASES = PARTITIONS;

/**
 * Lets the blocks of ids for bindings and instances of this database differ from those of all others, so that its rows can move
 * to any of them: block n of the database in place p has a number that leaves p when divided by `MOST_DATABASES`.
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
