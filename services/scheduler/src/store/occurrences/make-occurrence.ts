import { ServiceError } from '@orrery/contracts';
import { jsonb, transaction } from '@orrery/database';
import {
  CLAIM_MS,
  type ClaimedOccurrence,
  contentOf,
  expectedOf,
} from '../../core/occurrences/occurrence.js';
import { findScheduled, timingOf } from '../schedules/schedule-store.js';
import type { Db, ScheduleRow } from '../tables/schema.js';

/** What an occurrence of a schedule sends, and the columns that say so. */
function madeOf(row: ScheduleRow, scheduledAt: number, now: number) {
  const content = contentOf(row, scheduledAt, now);
  const { input, error, counter } = content;
  const expected = expectedOf(row);
  const columns = {
    event_version: row.event_version,
    counter,
    input: input && jsonb(input),
    expected: expected && jsonb(expected),
    error: error && jsonb(error),
  };
  return { made: { ...content, expected }, columns };
}

/** Makes and claims an occurrence that runs on request. @throws `schedule_not_found` */
export async function insertManual(db: Db, deployment: string, event: string, now: number): Promise<number> {
  const row = await findScheduled(db, deployment, event).executeTakeFirst();
  if (row === undefined) throw new ServiceError('schedule_not_found');
  const { id } = await db
    .insertInto('occurrences')
    .values({
      schedule_id: row.id,
      kind: 'manual',
      due_at: new Date(now),
      status: 'running',
      version_id: row.version_id,
      ...madeOf(row, now, now).columns,
      started_at: new Date(now),
      claimed_until: new Date(now + CLAIM_MS),
      acknowledged: false,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

/** What an occurrence sends now, or why it is not executed any more. */
export type Renewed = ClaimedOccurrence | { readonly skipped: string };

/**
 * What becomes of an occurrence after the runtime said that something else is bound. Where the same version is bound, and
 * only its definition has changed, the occurrence is made anew. `db` has been synced with the runtime before.
 */
export const renewOccurrence = (db: Db, occurrence: ClaimedOccurrence, now: number): Promise<Renewed> =>
  transaction(db, async (trx) => {
    const row = await trx
      .selectFrom('schedules')
      .selectAll()
      .where('id', '=', occurrence.scheduleId)
      .forUpdate()
      .executeTakeFirst();
    if (row === undefined || row.binding_id === null) return { skipped: 'unbound' };
    const { cron, isPaused, deploymentPaused } = timingOf(row);
    if (row.version_id !== occurrence.versionId) return { skipped: 'binding_changed' };
    if (cron === null) return { skipped: 'definition_changed' };
    if (deploymentPaused) return { skipped: 'deployment_paused' };
    if (isPaused && occurrence.kind === 'due') return { skipped: 'schedule_paused' };
    const { made, columns } = madeOf(row, occurrence.dueAt, now);
    const { error, ...others } = columns;
    await trx
      .updateTable('occurrences')
      // What an attempt before this one led to stays.
      .set(error !== null || occurrence.failed === null ? columns : others)
      .where('id', '=', occurrence.id)
      .where('status', '=', 'running')
      .execute();
    return { ...occurrence, ...made };
  });
