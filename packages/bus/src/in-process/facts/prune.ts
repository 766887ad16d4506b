import { type Kysely, sql } from 'kysely';
import type { BusSchema } from './schema.js';

/** A message's id is known for this long at least. */
const DUPLICATE_WINDOW = '10 minutes';
/** As in the NATS stream: what nobody has taken by then is fetched from its owner. */
const LONGEST = '7 days';

/** Deletes what all consumers of its subject have handled, and what is too old. @returns how many. */
export async function pruneMessages(db: Kysely<BusSchema>): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from message
    where stored_at < now() - ${DUPLICATE_WINDOW}::interval
      and (
        stored_at < now() - ${LONGEST}::interval
        or seq < (select min(floor) from consumer where consumer.subject = message.subject)
      )
  `.execute(db);
  return Number(numAffectedRows ?? 0);
}
