import type { ClaimedOccurrence, FailedAttempt } from '../../core/occurrences/occurrence.js';
import type { OccurrenceRow } from '../tables/schema.js';

/** An occurrence of which another process, or this one, has made the row. */
export const toClaimed = (row: OccurrenceRow & { deployment: string; event: string }): ClaimedOccurrence => ({
  id: row.id,
  scheduleId: row.schedule_id,
  deployment: row.deployment,
  event: row.event,
  kind: row.kind,
  dueAt: row.due_at.getTime(),
  versionId: row.version_id,
  counter: row.counter ?? 0,
  attempt: row.attempt,
  repeats: row.repeats,
  input: row.input,
  expected: row.expected,
  error: row.input === null ? row.error : null,
  failed: failedAttemptOf(row),
});

function failedAttemptOf({ attempt, error, history_id, seq }: OccurrenceRow): FailedAttempt | null {
  if (attempt === 1 || error === null) return null;
  return { error, entry: history_id === null || seq === null ? null : { historyId: history_id, seq } };
}
