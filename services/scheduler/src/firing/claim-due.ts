import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ExpectedBinding } from '@orrery/contracts';
import { prepared, transaction } from '@orrery/database';
import type { CronSchedule } from '@orrery/expressions';
import { sql } from 'kysely';
import type { Db, Trx } from '../database/db.js';
import { few } from '../database/few.js';
import type { OccurrenceRow, ScheduleRow } from '../database/schema.js';
import { type DueDecision, decideDue, type LedgerRow, MOST_LISTED } from '../schedules/schedule-rules.js';
import { cronOf, writeLedger } from '../schedules/schedule-store.js';
import {
  CLAIM_MS,
  type ClaimedOccurrence,
  type Content,
  contentOf,
  expectedOf,
  firstAttemptOf,
  toClaimed,
} from './claimed-occurrence.js';
import { isoTime } from './iso-time.js';

/** How many schedules were due, and those of their occurrences that are to be executed. */
export interface ClaimedDue {
  readonly due: number;
  readonly occurrences: readonly ClaimedOccurrence[];
}

/**
 * Decides schedules that are due, at most `limit`, in the order of their due times and then of their hashes. Each due time
 * gets its row, and the occurrences that are to be executed are claimed, in one transaction.
 */
export const claimDue = (db: Db, now: number, limit: number): Promise<ClaimedDue> =>
  transaction(db, async (trx) => {
    const rows = await trx
      .selectFrom('schedules')
      .select(CLAIMED)
      .where('next_at', '<=', new Date(now))
      .orderBy('next_at')
      .orderBy('spread')
      .orderBy('id')
      .limit(limit)
      .forUpdate()
      .skipLocked()
      .execute();
    const decided: Decided[] = [];
    const decideOnce = rememberDecisions(now);
    for (const row of rows) {
      const one = decide(row, decideOnce);
      if (one !== undefined) decided.push(one);
      // What a downtime missed takes milliseconds to calculate: other work goes on in between.
      if (one !== undefined && one.decision.ledger.length > 0) await nextTurn();
    }
    if (decided.length === 0) return { due: 0, occurrences: [] };
    const overlapping = decided.filter(({ row }) => row.open_occurrence !== null);
    await writeLedger(
      trx,
      decided.flatMap(({ row, decision, ledger }) => {
        const rows = [...decision.ledger, ...ledger];
        return rows.length === 0 ? [] : [{ scheduleId: row.id, rows, pauseEnded: null }];
      }),
      now,
    );
    await lengthenSpans(trx, overlapping);
    const occurrences = await writeDecided(trx, decided, now);
    return { due: decided.length, occurrences };
  });

/** What deciding and sending need of a schedule: every column of every occurrence is read anew. */
const CLAIMED = [
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
type ClaimedRow = Pick<ScheduleRow, (typeof CLAIMED)[number]>;

interface Decided {
  readonly row: ClaimedRow;
  readonly decision: DueDecision;
  /** The latest due time, where the occurrence before it is still going. */
  readonly ledger: readonly LedgerRow[];
}

type DecideOnce = (cron: CronSchedule, nextAt: number) => DueDecision;

/** Schedules that are due at one time often are the same: what is due next is calculated once for all of them. */
function rememberDecisions(now: number): DecideOnce {
  const decisions = new Map<string, DueDecision>();
  return (cron, nextAt) => {
    const key = `${nextAt} ${cron.timezone ?? ''} ${cron.schedule}`;
    const decision = decisions.get(key) ?? decideDue(cron, nextAt, now);
    decisions.set(key, decision);
    return decision;
  };
}

function decide(row: ClaimedRow, decideOnce: DecideOnce): Decided | undefined {
  const cron = cronOf(row);
  if (cron === null || row.next_at === null) return undefined;
  const decision = decideOnce(cron, row.next_at.getTime());
  const isListed = row.open_occurrence !== null && decision.dueAt !== null && row.skips < MOST_LISTED;
  return { row, decision, ledger: isListed ? [overlap(decision.dueAt)] : [] };
}

const overlap = (dueAt: number): LedgerRow => ({
  kind: 'due',
  dueAt,
  until: null,
  count: 1,
  status: 'skipped',
  reason: 'overlap',
});

/** Due times that are skipped because of one occurrence get a row each up to a number; all others share one. */
async function lengthenSpans(trx: Trx, overlapping: readonly Decided[]): Promise<void> {
  for (const { row, decision } of overlapping) {
    if (decision.dueAt === null || row.skips < MOST_LISTED) continue;
    const dueAt = new Date(decision.dueAt);
    const { numUpdatedRows } = await trx
      .updateTable('occurrences')
      .set({ until: dueAt, count: sql`count + 1` })
      .where('schedule_id', '=', row.id)
      .where('kind', '=', 'span')
      .where('status', '=', 'skipped')
      .where('counter', '=', row.open_occurrence)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) continue;
    await trx
      .insertInto('occurrences')
      .values({
        schedule_id: row.id,
        kind: 'span',
        due_at: dueAt,
        until: dueAt,
        status: 'skipped',
        reason: 'overlap',
        // Which occurrence they were skipped because of.
        counter: row.open_occurrence,
        started_at: dueAt,
        ended_at: dueAt,
      })
      .execute();
  }
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
interface Opened {
  readonly row: ClaimedRow;
  readonly dueAt: number;
  readonly content: Content;
  readonly expected: ExpectedBinding | null;
}

/** Moves the schedules on, and inserts what is to be executed, in one statement. Resolves with what it inserted. */
async function writeDecided(
  trx: Trx,
  decided: readonly Decided[],
  now: number,
): Promise<ClaimedOccurrence[]> {
  const opened = new Map<number, Opened>();
  const rows = decided.map((one) => {
    const open = openedOf(one, now);
    if (open !== undefined) opened.set(one.row.id, open);
    return columnsOf(one, open);
  });
  const inserted = await moveOn(trx, [JSON.stringify(rows), new Date(now), new Date(now + CLAIM_MS)]);
  const ids = new Map(inserted.map(({ id, schedule_id }) => [schedule_id, id]));
  const occurrences: ClaimedOccurrence[] = [];
  for (const [scheduleId, { row, dueAt, content, expected }] of opened) {
    const id = ids.get(scheduleId);
    if (id !== undefined) occurrences.push(firstAttemptOf(id, row, dueAt, content, expected));
  }
  return occurrences.sort((one, other) => one.dueAt - other.dueAt);
}

function openedOf({ row, decision: { dueAt } }: Decided, now: number): Opened | undefined {
  if (dueAt === null || row.open_occurrence !== null) return undefined;
  return { row, dueAt, content: contentOf(row, dueAt, now), expected: expectedOf(row) };
}

/** Without spreads: a member behind one costs Node.js 20 a microsecond (docs/performance.md). */
const columnsOf = (
  { row, decision: { dueAt, nextAt, decidedUntil } }: Decided,
  opened: Opened | undefined,
) => ({
  schedule_id: row.id,
  event_version: row.event_version,
  next_at: nextAt === null ? null : isoTime(nextAt),
  decided_until: isoTime(Math.max(decidedUntil, row.decided_until.getTime())),
  skips: row.skips + (dueAt !== null && row.open_occurrence !== null ? 1 : 0),
  due_at: opened && isoTime(opened.dueAt),
  version_id: opened && row.version_id,
  counter: opened?.content.counter,
  input: opened?.content.input,
  expected: opened?.expected,
  error: opened?.content.error,
});

/** Takes up occurrences whose process is gone, or whose next attempt or repetition is due; at most `limit`. */
export async function claimRunning(db: Db, now: number, limit: number): Promise<ClaimedOccurrence[]> {
  const { rows } = await sql<OccurrenceRow & { deployment: string; event: string }>`
    with taken as (
      update occurrences set claimed_until = ${new Date(now + CLAIM_MS)} where id in (
        select id from occurrences where status = 'running' and claimed_until <= ${new Date(now)}
        order by claimed_until limit ${limit} for update skip locked
      ) returning *
    )
    select t.*, s.deployment, s.event from taken t join schedules s on s.id = t.schedule_id`.execute(db);
  return rows.map(toClaimed);
}

/**
 * When something is next due for the first time or again, whichever is asked for, in milliseconds; undefined when nothing
 * is.
 */
export async function nextDueAt(
  db: Db,
  asked: { readonly fresh: boolean; readonly again: boolean },
): Promise<number | undefined> {
  const { rows } = await sql<{ at: Date | null }>`
    select least(
      (select next_at from schedules where next_at is not null and ${asked.fresh} order by next_at limit 1),
      (select claimed_until from occurrences where status = 'running' and ${asked.again} order by claimed_until limit 1)
    ) as at`.execute(db);
  return rows[0]?.at?.getTime();
}
