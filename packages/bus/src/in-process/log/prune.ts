import { type Kysely, sql } from 'kysely';
import type { BusSchema } from './tables.js';

/** A message's id is known for this long at least. A later repetition is a message of its own. */
const DUPLICATE_WINDOW = '30 seconds';
/** As in the NATS stream: consumers fetch older entries from their owner. */
const LONGEST = '7 days';

/** Messages examined of each subject at once, oldest first: those that may be deleted come before those that must stay. */
const AT_ONCE = 10_000;

/**
 * Deletes messages that all consumers of their subject have handled (those of a subject without consumers at once, beyond
 * the duplicate window), and messages that are too old. Each step is bounded, so none takes long.
 * @returns how many were deleted; call again while it is not 0
 */
export async function pruneMessages(db: Kysely<BusSchema>): Promise<number> {
  const { numAffectedRows } = await sql`
    with recursive subjects as (
      (select subject from message order by subject limit 1)
      union all
      select (select m.subject from message m where m.subject > s.subject order by m.subject limit 1)
      from subjects s where s.subject is not null
    ), oldest as (
      select s.subject, o.seq, o.stored_at, (select min(floor) from consumer c where c.subject = s.subject) as floor
      from subjects s, lateral (
        select seq, stored_at from message m where m.subject = s.subject order by seq limit ${AT_ONCE}
      ) o
      where s.subject is not null
    )
    delete from message m using oldest o
    where m.subject = o.subject and m.seq = o.seq
      and o.stored_at < now() - ${DUPLICATE_WINDOW}::interval
      and (o.stored_at < now() - ${LONGEST}::interval or o.floor is null or o.seq < o.floor)
  `.execute(db);
  return Number(numAffectedRows ?? 0);
}
