import { sql } from 'kysely';
import type { ClaimedOccurrence } from '../../core/occurrences/occurrence.js';
import type { Db } from '../tables/schema.js';

type Ended = Pick<ClaimedOccurrence, 'id' | 'deployment' | 'event' | 'kind' | 'dueAt' | 'attempt'>;

/** Occurrences that had ended at a time, in milliseconds, and of which the runtime was not told; none before a running one. */
export async function endedUntil(db: Db, until: number, limit: number): Promise<readonly Ended[]> {
  const { rows } = await sql<Omit<Ended, 'dueAt'> & { readonly due_at: Date }>`
    select o.id, o.kind, o.due_at, o.attempt, s.deployment, s.event
    from occurrences o join schedules s on s.id = o.schedule_id
    where not o.acknowledged and o.ended_at <= ${new Date(until)} and not exists (
      select from occurrences e where e.schedule_id = o.schedule_id and e.kind = o.kind and e.status = 'running' and e.id < o.id)
    order by o.id limit ${limit}`.execute(db);
  return rows.map(({ due_at, ...row }) => ({ ...row, dueAt: due_at.getTime() }));
}

export const noteAcknowledged = (db: Db, ids: readonly number[]) =>
  sql`update occurrences set acknowledged = true where id = any(${ids}::bigint[])`.execute(db);
