import { jsonb, transaction } from '@orrery/database';
import { type ClaimedOccurrence, contentOf, expectedOf } from '../../core/occurrences/occurrence.js';
import { timingOf } from '../schedules/schedule-store.js';
import type { Db } from '../tables/schema.js';

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
    const { cron, deploymentPaused } = timingOf(row);
    if (row.version_id !== occurrence.versionId) return { skipped: 'binding_changed' };
    if (cron === null) return { skipped: 'definition_changed' };
    if (deploymentPaused) return { skipped: 'deployment_paused' };
    const { input, error, counter } = contentOf(row, occurrence.dueAt, now);
    const expected = expectedOf(row);
    await trx
      .updateTable('occurrences')
      .set({
        input: input && jsonb(input),
        expected: expected && jsonb(expected),
        // What an attempt before this one led to stays.
        ...(error !== null || occurrence.failed === null ? { error: error && jsonb(error) } : {}),
        event_version: row.event_version,
        counter,
      })
      .where('id', '=', occurrence.id)
      .where('status', '=', 'running')
      .execute();
    return { ...occurrence, input, expected, error, counter };
  });
