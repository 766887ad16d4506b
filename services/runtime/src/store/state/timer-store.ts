import {
  type Caller,
  callerName,
  canonicalHash,
  type EntryTimer,
  type PageQuery,
  paginationOf,
  type TimerRecord,
} from '@orrery/contracts';
import { timerIdOf } from '@orrery/deciding';
import { sql } from 'kysely';
import type { Db } from '../tables/schema.js';
import type { TimerName } from './pending-timers.js';

/** A timer as it is stored. `due_at` is RFC 3339, so that it is the same in JSON. */
export interface TimerRow extends TimerName {
  readonly deployment_id: number;
  readonly event: string;
  readonly input: TimerRecord['input'];
  readonly due_at: string;
  readonly caller: Caller;
  readonly set_seq: number;
  readonly set_index: number;
  readonly depth: number;
  /** Which execution of its tree it is, from 2; null for one with a delay. */
  readonly number: number | null;
  readonly run_id: string | null;
}

/** A timer as the execution of it knows it. */
export interface ExecutedTimer extends TimerName {
  /** Address of its deployment. */
  readonly deployment: string;
  readonly dueAt: string;
  readonly number: number | null;
  readonly cause: TimerRecord['cause'];
  readonly depth: number;
}

/** Columns of a timer `t`. */
const COLUMNS = sql.raw(
  `t.id, t.deployment_id, t.event, t.input, to_char(t.due_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as due_at,
  t.key, t.caller, t.set_seq, t.set_index, t.depth, t.tree, t.number, t.run_id`,
);

/** A deployment whose next timer is due, or will be. */
export interface NextDue {
  readonly deploymentId: number;
  /** By the clock of the database, in milliseconds; not above 0 for one that is due. */
  readonly inMs: number;
  /** It is paused or deleted: nothing of it is executed. */
  readonly isStopped: boolean;
}

/** Deployments of one partition that are looked at in one round. */
const PER_PARTITION = 8;

/**
 * The deployments of these partitions whose timers are due first, at most `PER_PARTITION` of each: one probe of the index a
 * partition, however many timers there are. Those of `except` are left out.
 */
export async function nextDue(
  db: Db,
  partitions: readonly number[],
  except: readonly number[],
): Promise<NextDue[]> {
  const { rows } = await sql<NextDue>`
    select h.deployment_id as "deploymentId",
      (extract(epoch from h.next_due - clock_timestamp()) * 1000)::float8 as "inMs",
      d.owner_paused or d.operator_paused or d.account_paused or d.deleted_at is not null as "isStopped"
    from unnest(cast(${[...partitions]} as smallint[])) as p (id)
    cross join lateral (
      select deployment_id, next_due from timer_heads
      where partition = p.id and next_due is not null and deployment_id <> all(cast(${[...except]} as bigint[]))
      order by next_due limit ${PER_PARTITION}
    ) h
    join deployments d on d.id = h.deployment_id
    order by h.next_due`.execute(db);
  return rows;
}

/** Whether a round may have left out deployments that are due. */
export const mayBeMore = (found: readonly NextDue[]): boolean =>
  found.filter(({ inMs }) => inMs <= 0).length >= PER_PARTITION;

/** A paused deployment is looked at again after this long; the commit that resumes it says so earlier. */
const STOPPED_AGAIN = sql.raw(`interval '1 minute'`);

/**
 * Puts off what is paused, so that it is not found over and over. It locks the rows of the deployments: one that is resumed
 * meanwhile is left alone.
 */
export async function putOff(db: Db, stopped: readonly number[]): Promise<void> {
  if (stopped.length === 0) return;
  await sql`
    with stopped as materialized (
      select id from deployments
      where id = any(cast(${[...stopped]} as bigint[]))
        and (owner_paused or operator_paused or account_paused or deleted_at is not null)
      order by id for share
    )
    update timer_heads h set next_due = clock_timestamp() + ${STOPPED_AGAIN} from stopped s
    where h.deployment_id = s.id and h.next_due <= clock_timestamp()`.execute(db);
}

/** As many timers are read at once. */
export const TIMERS_AT_ONCE = 100;

/**
 * Pending timers of a deployment that are due by the clock of the database, in their order: those without delay first. Those
 * of `except` are left out.
 */
export async function dueTimers(
  db: Db,
  deploymentId: number,
  except: readonly string[],
  limit = TIMERS_AT_ONCE,
): Promise<TimerRow[]> {
  const others = [...except];
  const { rows } = await sql<TimerRow>`
    (select ${COLUMNS} from timers t
      where t.deployment_id = ${deploymentId} and t.tree is not null and t.run_id is null
        and t.id <> all(cast(${others} as uuid[]))
      order by t.set_seq, t.set_index limit ${limit})
    union all
    (select ${COLUMNS} from timers t
      where t.deployment_id = ${deploymentId} and t.run_id is null and t.due_at <= clock_timestamp() and t.tree is null
        and t.id <> all(cast(${others} as uuid[]))
      order by t.due_at, t.set_seq, t.set_index limit ${limit})`.execute(db);
  return rows.slice(0, limit);
}

/** A pending timer of a deployment. */
export async function pendingTimer(db: Db, deploymentId: number, id: string): Promise<TimerRow | undefined> {
  const { rows } = await sql<TimerRow>`
    select ${COLUMNS} from timers t
    where t.id = ${id} and t.deployment_id = ${deploymentId} and t.run_id is null`.execute(db);
  return rows[0];
}

/** A timer of a deployment, pending or with a run. */
export async function readTimer(db: Db, deploymentId: number, id: string): Promise<TimerRecord | undefined> {
  const { rows } = await sql<TimerRow>`
    select ${COLUMNS} from timers t where t.id = ${id} and t.deployment_id = ${deploymentId}`.execute(db);
  return rows[0] && timerRecord(rows[0]);
}

/** The pending timers with these keys. */
export async function timersWithKeys(
  db: Db,
  deploymentId: number,
  keys: readonly string[],
): Promise<(TimerName & { readonly key: string })[]> {
  const { rows } = await sql<TimerName & { key: string }>`
    select id, key, tree from timers
    where deployment_id = ${deploymentId} and key = any(cast(${[...keys]} as text[]))`.execute(db);
  return rows;
}

export interface TimerFilter {
  readonly event?: string | undefined;
  readonly key?: string | undefined;
}

/** One page of the timers of a deployment, the next one first; a deployment has a bounded number of them. */
export async function listTimers(db: Db, deploymentId: number, query: PageQuery & TimerFilter) {
  const { event = null, key = null, page, limit } = query;
  const wanted = sql`t.deployment_id = ${deploymentId} and (${event}::text is null or t.event = ${event})
    and (${key}::text is null or t.key = ${key})`;
  const { rows } = await sql<TimerRow & { total: number }>`
    select ${COLUMNS}, c.total from (select count(*)::int as total from timers t where ${wanted}) c
    left join lateral (
      select * from timers t where ${wanted} order by t.due_at, t.set_seq, t.set_index
      limit ${limit} offset ${(page - 1) * limit}
    ) t on true`.execute(db);
  const data = rows.filter(({ id }) => id !== null).map(timerRecord);
  return { data, pagination: paginationOf(query, rows[0]?.total ?? 0) };
}

/** A timer is executed when it is due: one that has been due for longer was not. */
const OVERDUE = sql.raw(`interval '1 minute'`);

/** The timers of a deployment in numbers; it has a bounded number of them. */
export async function waitingTimers(db: Db, deploymentId: number) {
  const { rows } = await sql<{ pending: number; overdue: number; next: Date | null }>`
    select count(*)::int as pending,
      count(*) filter (where run_id is null and due_at < clock_timestamp() - ${OVERDUE})::int as overdue,
      min(due_at) as next
    from timers where deployment_id = ${deploymentId}`.execute(db);
  const { pending = 0, overdue = 0, next = null } = rows[0] ?? {};
  return { pending, overdue, nextDueAt: next?.toISOString() ?? null };
}

const timerRecord = (row: TimerRow): TimerRecord => ({
  timerId: row.id,
  event: row.event,
  dueAt: row.due_at,
  key: row.key,
  input: row.input,
  caller: callerName(row.caller),
  cause: { seq: row.set_seq, index: row.set_index },
  depth: row.depth,
  executionId: row.run_id,
});

/**
 * Copies the pending timers of a deployment, as they are in this transaction's snapshot, to one that is made: as timers that
 * the first entry of its journal sets. Those that are due already are due at once. Answers what that entry names.
 */
export async function copyTimers(
  trx: Db,
  sourceId: number,
  target: { readonly id: number; readonly partition: number; readonly entryId: string },
): Promise<EntryTimer[]> {
  const { rows: sources } = await sql<{ readonly id: string }>`
    select t.id from timers t
    where t.deployment_id = ${sourceId} and t.run_id is null
    order by t.due_at, t.set_seq, t.set_index`.execute(trx);
  const copied: EntryTimer[] = [];
  // In parts: 10,000 inputs of 64 KiB are not to be in memory together, nor hashed in one turn of the event loop.
  while (copied.length < sources.length) {
    const part = sources.slice(copied.length, copied.length + TIMERS_AT_ONCE);
    copied.push(...(await copyPart(trx, part, copied.length, target)));
  }
  if (copied.length > 0)
    await sql`
      insert into timer_heads (deployment_id, partition, next_due)
      select ${target.id}, ${target.partition}, min(due_at) from timers where deployment_id = ${target.id}`.execute(
      trx,
    );
  return copied;
}

/** Copies these timers, in this order, as those from position `first` on that the entry sets. */
async function copyPart(
  trx: Db,
  sources: readonly { readonly id: string }[],
  first: number,
  target: { readonly id: number; readonly entryId: string },
): Promise<EntryTimer[]> {
  const ids = sources.map(({ id }) => id);
  const { rows } = await sql<TimerRow>`
    select ${COLUMNS} from timers t where t.id = any(cast(${ids} as uuid[]))
    order by t.due_at, t.set_seq, t.set_index`.execute(trx);
  const copies = rows.map((row, index) => ({
    ...row,
    id: timerIdOf(target.entryId, first + index),
    deployment_id: target.id,
    set_seq: 1,
    set_index: first + index,
    tree: null,
    number: null,
  }));
  await sql`
    insert into timers (id, deployment_id, event, input, due_at, key, caller, set_seq, set_index, depth)
    select id, deployment_id, event, input, due_at, key, caller, set_seq, set_index, depth
    from jsonb_populate_recordset(null::timers, cast(${JSON.stringify(copies)} as jsonb))`.execute(trx);
  return copies.map(({ id, event, due_at: dueAt, key, input }) => ({
    ...{ id, event, dueAt, key },
    inputHash: canonicalHash(input),
  }));
}
