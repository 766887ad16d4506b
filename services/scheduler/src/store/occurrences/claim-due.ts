import { setImmediate as nextTurn } from 'node:timers/promises';
import { transaction } from '@orrery/database';
import type { CronSchedule } from '@orrery/expressions';
import { sql } from 'kysely';
import { CLAIM_MS, type ClaimedOccurrence, type FailedAttempt } from '../../core/occurrences/occurrence.js';
import {
  type DueDecision,
  decideDue,
  type LedgerRow,
  MOST_LISTED,
} from '../../core/schedules/schedule-rules.js';
import { cronOf, writeLedger } from '../schedules/schedule-store.js';
import type { Db, OccurrenceRow, Trx } from '../tables/schema.js';
import { CLAIMED, type ClaimedRow, type Decided, openedOf, writeDecided } from './write-decided.js';

/** How many schedules were due, and those of their occurrences that are to be executed. */
export interface ClaimedDue {
  readonly due: number;
  readonly occurrences: readonly ClaimedOccurrence[];
  /** There was no time for all that it looked at. */
  readonly isMore: boolean;
}

/** A transaction calculates for so long at most, in milliseconds: the server ends one that seems idle for 15 s. */
const LONGEST_MS = 1000;
/** What a downtime missed, and large inputs, take milliseconds to make: other work goes on after so many of them. */
const TURN_MS = 5;

/**
 * Decides schedules that are due, at most `limit`, in the order of their due times and then of their hashes. Each due time
 * gets its row, and the occurrences that are to be executed are claimed, in one transaction.
 */
export const claimDue = (
  db: Db,
  now: number,
  limit: number,
  longestMs: number = LONGEST_MS,
): Promise<ClaimedDue> =>
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
    const { decided, isMore } = await decideWithin(rows, now, longestMs);
    if (decided.length === 0) return { due: 0, occurrences: [], isMore };
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
    return { due: decided.length, occurrences, isMore };
  });

/** Decides schedules until so many milliseconds are over, at least one of them. */
async function decideWithin(
  rows: readonly ClaimedRow[],
  now: number,
  longestMs: number,
): Promise<{ readonly decided: readonly Decided[]; readonly isMore: boolean }> {
  const until = performance.now() + longestMs;
  let turnEnds = performance.now() + TURN_MS;
  const decided: Decided[] = [];
  const decideOnce = rememberDecisions(now);
  for (const row of rows) {
    if (decided.length > 0 && performance.now() >= until) return { decided, isMore: true };
    const one = decide(row, decideOnce, now);
    if (one === undefined) continue;
    decided.push(one);
    if (performance.now() < turnEnds) continue;
    await nextTurn();
    turnEnds = performance.now() + TURN_MS;
  }
  return { decided, isMore: false };
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

function decide(row: ClaimedRow, decideOnce: DecideOnce, now: number): Decided | undefined {
  const cron = cronOf(row);
  if (cron === null || row.next_at === null) return undefined;
  const decision = decideOnce(cron, row.next_at.getTime());
  const isListed = row.open_occurrence !== null && decision.dueAt !== null && row.skips < MOST_LISTED;
  const ledger = isListed ? [overlap(decision.dueAt)] : [];
  return { row, decision, ledger, opened: openedOf(row, decision, now) };
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

/** For how long the first due time that is not decided has been due, in milliseconds. */
export const lagAt = async (db: Db, now: number): Promise<number> =>
  Math.max(0, now - ((await nextDueAt(db, { fresh: true, again: false })) ?? now));

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
