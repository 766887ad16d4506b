import { readOccurrenceKey } from '@orrery/contracts';
import { jsonb, prepared } from '@orrery/database';
import { sql } from 'kysely';
import type { ClaimedOccurrence, FailedAttempt } from '../../core/occurrences/occurrence.js';
import { type Outcome, outcomeOf } from '../../core/occurrences/outcome.js';
import { few } from '../tables/few.js';
import type { Db, ScheduleRow, Trx } from '../tables/schema.js';
import { toClaimed } from './claim-due.js';

// The schedules are locked before anything is written, in one order, as everyone does who locks several. What has not ended is
// told by its time of end: a condition on its status would let the planner read all that is running.
const RECORD = `
  with given as materialized (
    select * from jsonb_to_recordset($1::jsonb) as g (id bigint, "scheduleId" bigint, attempt integer, attempts integer,
      status text, reason text, outcome text, "historyId" text, seq bigint, error jsonb, result jsonb, "scheduledAt" text)
    where ${few('id')}
  ), locked as materialized (
    select id from schedules where id in (select "scheduleId" from given) order by id for no key update
  ), ended as (
    update occurrences o set status = g.status, reason = g.reason, outcome = g.outcome, history_id = g."historyId",
      seq = g.seq, error = nullif(g.error, 'null'), attempt = g.attempts, ended_at = $2, claimed_until = null, input = null
    from given g where (select count(*) from locked) > 0
      and o.id = g.id and o.ended_at is null and o.attempt = g.attempt
    returning o.id, o.schedule_id, o.kind, o.counter, g.status, g.outcome, g.error, g.result, g."scheduledAt"
  )
  update schedules s set open_occurrence = null, skips = 0,
    counter = case when e.status = 'fired' then greatest(s.counter, e.counter) else s.counter end,
    cron_state = case when e.status = 'fired' then jsonb_build_object(
      'counter', e.counter, 'scheduledAt', e."scheduledAt", 'result', e.result) else s.cron_state end,
    consecutive_failures = case e.outcome when 'failed' then s.consecutive_failures + 1
      when 'succeeded' then 0 else s.consecutive_failures end,
    last_error = case e.outcome when 'failed' then e.error when 'succeeded' then null else s.last_error end
  from ended e where s.id = e.schedule_id and e.kind = 'due' and s.open_occurrence = e.id`;
const record = prepared('record-outcomes', RECORD);

/**
 * Records outcomes, each once: one that another process has recorded already stays. What fired is counted by its schedule,
 * and what ran on request is not.
 */
export async function recordOutcomes(db: Db, outcomes: readonly Outcome[], now: number): Promise<void> {
  await record(db, [JSON.stringify(outcomes), new Date(now)]);
}

const running = (db: Db, ...ids: number[]) =>
  db.updateTable('occurrences').where('id', 'in', ids).where('status', '=', 'running');

/**
 * The attempt failed for a reason that may pass: the next one is made at a time, in milliseconds. What it led to is kept
 * for an occurrence whose next attempt is never executed.
 */
export async function openNextAttempt(
  db: Db,
  { id, attempt }: { readonly id: number; readonly attempt: number },
  { error, entry }: FailedAttempt,
  at: number,
): Promise<void> {
  await running(db, id)
    .set({
      attempt: attempt + 1,
      repeats: 0,
      error: jsonb(error),
      history_id: entry?.historyId ?? null,
      seq: entry?.seq ?? null,
      claimed_until: new Date(at),
      next_attempt_at: new Date(at),
    })
    .where('attempt', '=', attempt)
    .execute();
}

/**
 * Ends the open occurrence of a schedule, which is held, if its next attempt waits: it stays failed. One that a process has
 * taken up may be executed at this moment. Resolves with the outcome of what has ended.
 */
export async function endWaiting(
  trx: Trx,
  { open_occurrence, deployment, event }: ScheduleRow,
  reason: string,
  now: number,
): Promise<Outcome[]> {
  if (open_occurrence === null) return [];
  const row = await trx
    .selectFrom('occurrences')
    .selectAll()
    .where('id', '=', open_occurrence)
    .where('status', '=', 'running')
    .whereRef('next_attempt_at', '=', 'claimed_until')
    .forUpdate()
    .executeTakeFirst();
  if (row === undefined) return [];
  const outcome = outcomeOf(toClaimed({ ...row, deployment, event }), { kind: 'skipped', reason });
  await recordOutcomes(trx, [outcome], now);
  return [outcome];
}

/** Nobody knows the outcome yet: the same attempt is sent again at a time, in milliseconds. */
export async function repeatAt(
  db: Db,
  { id, attempt }: { readonly id: number; readonly attempt: number },
  at: number,
): Promise<void> {
  await running(db, id)
    .set({ repeats: sql`repeats + 1`, claimed_until: new Date(at) })
    .where('attempt', '=', attempt)
    .execute();
}

/**
 * Has occurrences asked for at once whose runs have ended; a next attempt that is made already keeps its time. `keys` are
 * those of the runtime; `now` in milliseconds.
 */
export async function askAtOnce(db: Db, keys: readonly string[], now: number): Promise<void> {
  const due = keys.map(readOccurrenceKey).flatMap((one) => (one?.kind === 'due' ? [{ ...one }] : []));
  if (due.length === 0) return;
  await sql`
    update occurrences o set claimed_until = ${new Date(now)}
    from jsonb_to_recordset(${jsonb(due)}) as g (deployment text, event text, position float8, attempt integer)
    join schedules s on s.deployment = g.deployment and s.event = g.event
    where o.schedule_id = s.id and o.due_at = to_timestamp(g.position / 1000) and o.kind = 'due' and o.status = 'running'
      and o.attempt = g.attempt and o.claimed_until > ${new Date(now)}`.execute(db);
}

/** Gives up claims that nothing was sent for: another process may take them at once. */
export async function releaseClaims(db: Db, ids: readonly number[], now: number): Promise<void> {
  if (ids.length === 0) return;
  await running(db, ...ids)
    .set({ claimed_until: new Date(now) })
    .execute();
}

/** The first due time of a schedule that is not decided, in milliseconds. */
export async function nextDueOf(db: Db, scheduleId: number): Promise<number | null> {
  const schedule = await db
    .selectFrom('schedules')
    .select('next_at')
    .where('id', '=', scheduleId)
    .executeTakeFirst();
  return schedule?.next_at?.getTime() ?? null;
}

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
