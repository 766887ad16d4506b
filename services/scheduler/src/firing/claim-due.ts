import { setImmediate as nextTurn } from 'node:timers/promises';
import { type ExecutionError, type ExpectedBinding, type JsonObject, ServiceError } from '@orrery/contracts';
import { jsonb, transaction } from '@orrery/database';
import type { CronSchedule } from '@orrery/expressions';
import { sql } from 'kysely';
import type { Db, Trx } from '../database/db.js';
import type { OccurrenceKind, OccurrenceRow, ScheduleRow } from '../database/schema.js';
import { type DueDecision, decideDue, type LedgerRow, MOST_LISTED } from '../schedules/schedule-rules.js';
import { timingOf, writeLedger } from '../schedules/schedule-store.js';
import { makeInput } from './make-input.js';

/** An occurrence that this process fires; nobody else does before its claim runs out. */
export interface ClaimedOccurrence {
  readonly id: number;
  readonly scheduleId: number;
  readonly deployment: string;
  readonly event: string;
  readonly kind: OccurrenceKind;
  /** Milliseconds since the epoch. */
  readonly dueAt: number;
  readonly versionId: number | null;
  readonly counter: number;
  readonly attempt: number;
  readonly repeats: number;
  readonly input: JsonObject | null;
  readonly expected: ExpectedBinding | null;
  /** Why there is no input. */
  readonly error: ExecutionError | null;
  /** What the attempt before this one led to; null for the first. */
  readonly failed: FailedAttempt | null;
}

/** An attempt that failed for a reason that may pass. */
export interface FailedAttempt {
  readonly error: ExecutionError;
  /** Its entry in the history; null where the execution was refused before it read anything. */
  readonly entry: { readonly historyId: string; readonly seq: number } | null;
}

/** A process that has not recorded an outcome this long after its claim is taken for gone, in milliseconds. */
export const CLAIM_MS = 30_000;

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
      .selectAll()
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
      decided.map(({ row, decision, ledger }) => ({
        scheduleId: row.id,
        rows: [...decision.ledger, ...ledger],
        pauseEnded: null,
      })),
      now,
    );
    await lengthenSpans(trx, overlapping);
    const occurrences = await insertRunning(trx, decided, now);
    await writeDecided(trx, decided, occurrences);
    return { due: decided.length, occurrences };
  });

interface Decided {
  readonly row: ScheduleRow;
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

function decide(row: ScheduleRow, decideOnce: DecideOnce): Decided | undefined {
  const { cron, nextAt } = timingOf(row);
  if (cron === null || nextAt === null) return undefined;
  const decision = decideOnce(cron, nextAt);
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

/** What an occurrence sends, or why its template failed. */
export function contentOf(row: ScheduleRow, scheduledAt: number, now: number) {
  const counter = row.counter + 1;
  try {
    return { counter, input: makeInput(row, { counter, scheduledAt, now }), error: null };
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const facts = error.facts as JsonObject;
    return { counter, input: null, error: { code: error.code, detail: error.message, facts } };
  }
}

/** What has to be bound when the occurrence is executed. */
export const expectedOf = (row: ScheduleRow): ExpectedBinding | null =>
  row.event_version === null || row.version_hash === null
    ? null
    : {
        ...(row.binding_id !== null && { bindingId: row.binding_id }),
        eventVersion: row.event_version,
        versionHash: row.version_hash,
      };

async function insertRunning(
  trx: Trx,
  decided: readonly Decided[],
  now: number,
): Promise<ClaimedOccurrence[]> {
  const values = decided.flatMap(({ row, decision: { dueAt } }) => {
    if (dueAt === null || row.open_occurrence !== null) return [];
    const { input, error, counter } = contentOf(row, dueAt, now);
    return [
      {
        schedule_id: row.id,
        due_at: new Date(dueAt),
        version_id: row.version_id,
        event_version: row.event_version,
        counter,
        input,
        expected: expectedOf(row),
        error,
      },
    ];
  });
  if (values.length === 0) return [];
  const { rows } = await sql<OccurrenceRow & { deployment: string; event: string }>`
    with inserted as (
      insert into occurrences (schedule_id, kind, due_at, status, version_id, event_version, counter, input, expected,
        error, started_at, claimed_until, acknowledged)
      select schedule_id, 'due', due_at, 'running', version_id, event_version, counter, nullif(input, 'null'),
        nullif(expected, 'null'), nullif(error, 'null'), ${new Date(now)}, ${new Date(now + CLAIM_MS)}, false
      from jsonb_to_recordset(${jsonb(values)}) as r (schedule_id bigint, due_at timestamptz, version_id bigint,
        event_version integer, counter bigint, input jsonb, expected jsonb, error jsonb)
      on conflict (schedule_id, due_at) where kind = 'due' do nothing
      returning *
    )
    select i.*, s.deployment, s.event from inserted i join schedules s on s.id = i.schedule_id
    order by i.due_at, s.spread, s.id`.execute(trx);
  return rows.map(toClaimed);
}

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

async function writeDecided(
  trx: Trx,
  decided: readonly Decided[],
  occurrences: readonly ClaimedOccurrence[],
): Promise<void> {
  const opened = new Map(occurrences.map(({ scheduleId, id }) => [scheduleId, id]));
  const rows = decided.map(({ row, decision: { dueAt, nextAt, decidedUntil } }) => ({
    id: row.id,
    next_at: nextAt === null ? null : new Date(nextAt),
    decided_until: new Date(Math.max(decidedUntil, row.decided_until.getTime())),
    open_occurrence: opened.get(row.id) ?? row.open_occurrence,
    skips: opened.has(row.id) ? 0 : row.skips + (dueAt !== null && row.open_occurrence !== null ? 1 : 0),
  }));
  await sql`
    update schedules s set next_at = r.next_at, decided_until = r.decided_until, open_occurrence = r.open_occurrence,
      skips = r.skips
    from jsonb_to_recordset(${jsonb(rows)}) as r (id bigint, next_at timestamptz, decided_until timestamptz,
      open_occurrence bigint, skips integer)
    where s.id = r.id`.execute(trx);
}

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
