import { transaction } from '@orrery/database';
import { sql } from 'kysely';
import type { Db } from '../tables/schema.js';

/** How far ids may be behind, so that several processes that start at once raise them once. */
const BEHIND = 1000;

/**
 * Lets the ids of occurrences go on from the milliseconds of the database's clock. The runtime refuses runs on request whose
 * numbers, which are these ids, it was told are over: a scheduler whose database is a new one, or was restored, gives out
 * none of those again. Far fewer occurrences are made than a thousand in a second, so ids stay behind the clock.
 */
export const raiseOccurrenceIds = (db: Db): Promise<void> =>
  transaction(db, async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtext('scheduler.occurrence-ids'))`.execute(trx);
    await sql`
      select setval('occurrences_id_seq', n)
      from (select (extract(epoch from clock_timestamp()) * 1000)::bigint as n) as clock, occurrences_id_seq
      where last_value < n - ${BEHIND}::bigint`.execute(trx);
  });
