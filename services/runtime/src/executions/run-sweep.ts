import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { Db } from '../database/db.js';

/** How long the status of an ended run can be read, in milliseconds. */
const RETENTION_MS = 25 * 60 * 60 * 1000;
/** Rows that one round deletes. */
const ROWS_PER_ROUND = 1000;

/** Deletes the rows of runs that have ended long ago, round after round while any are left. */
export const startRunSweep = (
  db: Db,
  { clock, ...options }: { readonly clock: Clock; readonly logger: Logger; readonly intervalMs: number },
): PollLoop =>
  startPollLoop({
    name: 'ended runs sweep',
    clock,
    ...options,
    runOnce: async () =>
      (await deleteEndedRuns(db, new Date(clock.now() - RETENTION_MS))) === ROWS_PER_ROUND ? 'more' : 'idle',
  });

/** Resolves with how many rows were deleted. Rows that another process is deleting are left to it. */
async function deleteEndedRuns(db: Db, before: Date): Promise<number> {
  const { numAffectedRows } = await sql`
    delete from runs where id in (
      select id from runs where ended_at < ${before}
      order by ended_at limit ${ROWS_PER_ROUND} for update skip locked
    )`.execute(db);
  return Number(numAffectedRows ?? 0);
}
