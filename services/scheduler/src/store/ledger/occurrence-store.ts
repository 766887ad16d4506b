import {
  type OccurrenceRecord,
  type OccurrenceStatus,
  type PageQuery,
  type Pagination,
  paginationOf,
} from '@orrery/contracts';
import { countUpTo, page } from '@orrery/database';
import type { Db, OccurrenceRow } from '../tables/schema.js';

/** What a record shows. What is sent, which may be large, is not. */
const SHOWN = [
  'id',
  'schedule_id',
  'kind',
  'due_at',
  'until',
  'count',
  'status',
  'reason',
  'event_version',
  'counter',
  'expected',
  'attempt',
  'outcome',
  'history_id',
  'seq',
  'error',
  'started_at',
  'ended_at',
] as const satisfies readonly (keyof OccurrenceRow)[];
export type ShownOccurrence = Pick<OccurrenceRow, (typeof SHOWN)[number]>;

export const toRecord = (row: ShownOccurrence): OccurrenceRecord => ({
  id: row.id,
  kind: row.kind,
  dueAt: row.due_at.toISOString(),
  until: row.until?.toISOString() ?? null,
  count: row.count,
  status: row.status,
  reason: row.reason,
  eventVersion: row.event_version,
  // Of a span it names the occurrence that was still going.
  counter: row.kind === 'span' ? null : row.counter,
  attempts: row.expected === null ? 0 : row.attempt,
  outcome: row.outcome,
  historyId: row.history_id,
  seq: row.seq,
  error: row.error,
  startedAt: row.started_at.toISOString(),
  endedAt: row.ended_at?.toISOString() ?? null,
});

/** A page of a schedule's ledger, newest first. */
export async function listOccurrences(
  db: Db,
  scheduleId: number,
  query: PageQuery & { readonly status?: OccurrenceStatus | undefined },
): Promise<{ data: OccurrenceRecord[]; pagination: Pagination }> {
  const all = db.selectFrom('occurrences').where('schedule_id', '=', scheduleId);
  const chosen = query.status === undefined ? all : all.where('status', '=', query.status);
  const rows = await page(
    chosen.select(SHOWN).orderBy('due_at', 'desc').orderBy('id', 'desc'),
    query,
  ).execute();
  const { total, isMinimum } = await countUpTo(db, chosen);
  const pagination = paginationOf(query, total);
  return {
    data: rows.map(toRecord),
    pagination: isMinimum ? { ...pagination, totalIsMinimum: true } : pagination,
  };
}

/** The last occurrence of each schedule: pauses are none. */
export async function lastOccurrences(
  db: Db,
  scheduleIds: readonly number[],
): Promise<ReadonlyMap<number, ShownOccurrence>> {
  if (scheduleIds.length === 0) return new Map();
  const rows = await db
    .selectFrom('schedules')
    .innerJoinLateral(
      (query) =>
        query
          .selectFrom('occurrences')
          .select(SHOWN)
          .whereRef('schedule_id', '=', 'schedules.id')
          .where('kind', '<>', 'pause')
          .orderBy('due_at', 'desc')
          .orderBy('id', 'desc')
          .limit(1)
          .as('last'),
      (join) => join.onTrue(),
    )
    .selectAll('last')
    .where('schedules.id', 'in', [...scheduleIds])
    .execute();
  return new Map(rows.map((row) => [row.schedule_id, row]));
}

export const findOccurrence = (db: Db, id: number): Promise<OccurrenceRow> =>
  db.selectFrom('occurrences').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
