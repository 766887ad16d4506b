import { ServiceError } from '@orrery/contracts';
import { jsonb } from '@orrery/database';
import { CLAIM_MS, contentOf, expectedOf } from '../../core/occurrences/occurrence.js';
import { findScheduled } from '../schedules/schedule-store.js';
import type { Db } from '../tables/schema.js';

/** Makes and claims an occurrence that runs on request. @throws `schedule_not_found` */
export async function insertManual(db: Db, deployment: string, event: string, now: number): Promise<number> {
  const row = await findScheduled(db, deployment, event).executeTakeFirst();
  if (row === undefined) throw new ServiceError('schedule_not_found');
  const { input, error, counter } = contentOf(row, now, now);
  const expected = expectedOf(row);
  const { id } = await db
    .insertInto('occurrences')
    .values({
      schedule_id: row.id,
      kind: 'manual',
      due_at: new Date(now),
      status: 'running',
      version_id: row.version_id,
      event_version: row.event_version,
      counter,
      input: input && jsonb(input),
      expected: expected && jsonb(expected),
      error: error && jsonb(error),
      started_at: new Date(now),
      claimed_until: new Date(now + CLAIM_MS),
      acknowledged: false,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}
