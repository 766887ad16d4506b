import type { ExpectedBinding } from '@orrery/contracts';
import { prepared } from '@orrery/database';
import { timestampOf } from '@orrery/service-kit';
import {
  CLAIM_MS,
  type ClaimedOccurrence,
  type Content,
  contentOf,
  expectedOf,
} from '../../core/occurrences/occurrence.js';
import type { DueDecision, LedgerRow } from '../../core/schedules/schedule-rules.js';
import { few } from '../tables/few.js';
import type { ScheduleRow, Trx } from '../tables/schema.js';

/** What deciding and sending need of a schedule: every column of every occurrence is read anew. */
export const CLAIMED = [
  'id',
  'deployment',
  'world_address',
  'event',
  'binding_id',
  'version_id',
  'event_version',
  'version_hash',
  'definition_hash',
  'schedule',
  'timezone',
  'input',
  'next_at',
  'decided_until',
  'open_occurrence',
  'skips',
  'counter',
  'cron_state',
] as const satisfies readonly (keyof ScheduleRow)[];
export type ClaimedRow = Pick<ScheduleRow, (typeof CLAIMED)[number]>;

export interface Decided {
  readonly row: ClaimedRow;
  readonly decision: DueDecision;
  /** The latest due time, where the occurrence before it is still going. */
  readonly ledger: readonly LedgerRow[];
  /** Undefined where nothing is to be executed. */
  readonly opened: Opened | undefined;
}

const MOVE_ON = `
  with given as materialized (
    select * from jsonb_to_recordset($1::jsonb) as g (schedule_id bigint, event_version integer, next_at timestamptz,
      decided_until timestamptz, skips integer, due_at timestamptz, version_id bigint, counter bigint, input jsonb,
      expected jsonb, error jsonb)
  ), inserted as (
    insert into occurrences (schedule_id, kind, due_at, status, version_id, event_version, counter, input, expected,
      error, started_at, claimed_until, acknowledged)
    select schedule_id, 'due', due_at, 'running', version_id, event_version, counter, nullif(input, 'null'),
      nullif(expected, 'null'), nullif(error, 'null'), $2, $3, false
    from given where due_at is not null
    on conflict (schedule_id, due_at) where kind = 'due' do nothing
    returning id, schedule_id
  ), moved as (
    update schedules s set next_at = g.next_at, decided_until = g.decided_until,
      open_occurrence = coalesce(i.id, s.open_occurrence), skips = case when i.id is null then g.skips else 0 end
    from given g left join inserted i on i.schedule_id = g.schedule_id
    where s.id = g.schedule_id and ${few('coalesce(i.id, g.schedule_id)')}
  )
  select id, schedule_id from inserted`;
const moveOn = prepared<{ id: number; schedule_id: number }>('move-on', MOVE_ON);

/** An occurrence that is to be executed, before it has its row. */
export interface Opened {
  readonly dueAt: number;
  readonly content: Content;
  readonly expected: ExpectedBinding | null;
}

/** Moves the schedules on, and inserts what is to be executed, in one statement. Resolves with what it inserted. */
export async function writeDecided(
  trx: Trx,
  decided: readonly Decided[],
  now: number,
): Promise<ClaimedOccurrence[]> {
  const rows = JSON.stringify(decided.map(columnsOf));
  const inserted = await moveOn(trx, [rows, new Date(now), new Date(now + CLAIM_MS)]);
  const ids = new Map(inserted.map(({ id, schedule_id }) => [schedule_id, id]));
  const occurrences = decided.flatMap(({ row, opened }) => {
    const id = ids.get(row.id);
    return id === undefined || opened === undefined ? [] : [firstAttemptOf(id, row, opened)];
  });
  return occurrences.sort((one, other) => one.dueAt - other.dueAt);
}

/** The first attempt of a due time. */
const firstAttemptOf = (
  id: number,
  row: ClaimedRow,
  { dueAt, content, expected }: Opened,
): ClaimedOccurrence => ({
  ...content,
  id,
  scheduleId: row.id,
  deployment: row.deployment,
  event: row.event,
  kind: 'due',
  dueAt,
  versionId: row.version_id,
  attempt: 1,
  repeats: 0,
  expected,
  failed: null,
});

/** What a schedule is to execute of what is decided. */
export function openedOf(row: ClaimedRow, { dueAt }: DueDecision, now: number): Opened | undefined {
  if (dueAt === null || row.open_occurrence !== null) return undefined;
  return { dueAt, content: contentOf(row, dueAt, now), expected: expectedOf(row) };
}

const columnsOf = ({ row, decision: { dueAt, nextAt, decidedUntil }, opened }: Decided) => ({
  schedule_id: row.id,
  event_version: row.event_version,
  next_at: nextAt === null ? null : timestampOf(nextAt),
  decided_until: timestampOf(Math.max(decidedUntil, row.decided_until.getTime())),
  skips: row.skips + (dueAt !== null && row.open_occurrence !== null ? 1 : 0),
  due_at: opened && timestampOf(opened.dueAt),
  version_id: opened && row.version_id,
  counter: opened?.content.counter,
  input: opened?.content.input,
  expected: opened?.expected,
  error: opened?.content.error,
});
