import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { DatabaseClock } from '../database/database-clock.js';
import type { Db } from '../database/db.js';

interface PruneDependencies {
  readonly db: Db;
  readonly databaseNow: DatabaseClock;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Rows of ledgers are removed when they are this old. */
  readonly ledgerDays: number;
}

/** How often old rows are looked for, in milliseconds. */
const INTERVAL_MS = 60 * 60_000;
const DAY_MS = 24 * 60 * 60_000;
/** Rows that one statement looks at. */
const AT_ONCE = 1000;

/**
 * Keeps ledgers bounded. Rows are looked at in the order in which they were made, up to the first that is not old: what
 * stays of the older ones is the last occurrence of each schedule, and what has not ended.
 */
export function startPruning({ db, databaseNow, clock, logger, ledgerDays }: PruneDependencies): PollLoop {
  let after = 0;
  const runOnce = async () => {
    const before = (await databaseNow()) - ledgerDays * DAY_MS;
    const { last, mayBeMore } = await pruneLedger(db, after, before);
    after = mayBeMore ? last : 0;
    return mayBeMore ? 'more' : 'idle';
  };
  return startPollLoop({ name: 'pruning of ledgers', intervalMs: INTERVAL_MS, runOnce, clock, logger });
}

/** Looks at rows with ids above `after`; removes those that were made before a time, in milliseconds. */
async function pruneLedger(
  db: Db,
  after: number,
  before: number,
): Promise<{ readonly last: number; readonly mayBeMore: boolean }> {
  const { rows } = await sql<{ seen: number; last: number | null; all_old: boolean | null }>`
    with seen as materialized (
      select id, started_at < ${new Date(before)} as is_old from occurrences
      where id > ${after} order by id limit ${AT_ONCE}
    ), old as materialized (
      select o.id from occurrences o join seen on seen.id = o.id
      where seen.is_old and o.status <> 'running' and o.acknowledged and not (o.kind = 'pause' and o.until is null)
        and exists (
          select from occurrences later where later.schedule_id = o.schedule_id and later.kind <> 'pause'
            and (later.due_at, later.id) > (o.due_at, o.id)
        )
      order by o.id for update of o skip locked
    ), removed as (
      delete from occurrences where id in (select id from old)
    )
    select count(*) as seen, max(id) as last, bool_and(is_old) as all_old from seen`.execute(db);
  const [{ seen, last, all_old } = { seen: 0, last: null, all_old: null }] = rows;
  return { last: last ?? 0, mayBeMore: seen === AT_ONCE && all_old === true };
}
