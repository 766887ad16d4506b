import { WEBHOOK_LIMITS } from '@orrery/contracts';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../tables/schema.js';
import { NO_ID } from './webhook-store.js';

const { deliveriesKept, deliveriesKeptDays } = WEBHOOK_LIMITS;

/** What waits for an outcome is kept. */
const isDone = sql`state not in ('queued', 'retrying')`;

/**
 * Removes the delivery whose place this one takes, so that nobody has to look for webhooks with too many. One row, not a range:
 * a range from the first delivery on would pass over all that were removed since the last vacuum.
 */
export const pruneFor = (webhookId: string, number: RawBuilder<number>) =>
  sql`
    delete from webhook_deliveries where webhook_id = ${webhookId} and number = ${number} - ${deliveriesKept} and ${isDone}`;

/** Webhooks that one statement looks at, of each what is too much and one delivery more. */
const LOOKED_AT = 20;

/** Removes what is too old, and what waited for an outcome when its place was taken. */
export async function prunePassed(db: Db, signal: AbortSignal): Promise<void> {
  for (let after: string | undefined = NO_ID; after !== undefined && !signal.aborted; )
    after = await pruneAfter(db, after);
}

/** A page in the order of ids. Resolves with its last id, or undefined where it is the last page. */
async function pruneAfter(db: Db, after: string): Promise<string | undefined> {
  const { rows } = await sql<{ id: string }>`
    with looked_at as materialized (
        select id, last_number from webhooks where id > ${after} order by id limit ${LOOKED_AT}
      ),
      kept as (
        select id, greatest(last_number - ${deliveriesKept} + 1, coalesce((select number from webhook_deliveries
          where webhook_id = id and created_at >= now() - ${deliveriesKeptDays} * interval '1 day'
          order by number limit 1), last_number + 1)) as first
        from looked_at
      ),
      pruned as (
        delete from webhook_deliveries using kept where webhook_id = kept.id and number < kept.first and ${isDone}
      )
    select id from looked_at order by id`.execute(db);
  return rows.length < LOOKED_AT ? undefined : rows.at(-1)?.id;
}
