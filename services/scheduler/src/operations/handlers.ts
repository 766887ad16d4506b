import {
  type CallContext,
  fieldProblem,
  type Handlers,
  type OccurrenceRecord,
  paginationOf,
  refuseDeepPage,
  type ScheduleRecord,
  ServiceError,
  type schedulerContract,
} from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { type CronSchedule, checkCronSchedule, describeSchedule, nextDue } from '@orrery/expressions';
import { toldError } from '../core/occurrences/told-error.js';
import { changeTiming } from '../core/schedules/schedule-rules.js';
import {
  lastOccurrences,
  listOccurrences,
  type ShownOccurrence,
  toRecord,
} from '../store/ledger/occurrence-store.js';
import { endWaiting } from '../store/occurrences/outcome-store.js';
import {
  findLedger,
  findScheduled,
  listSchedules,
  type ShownSchedule,
  timingColumns,
  timingOf,
  writeLedger,
} from '../store/schedules/schedule-store.js';
import type { Db, ScheduleRow, Trx } from '../store/tables/schema.js';
import { authorize, type ScheduleDependencies, type SchedulePath } from './authorize.js';
import { runNow } from './run-now.js';

/** The handlers of all RPCs of the scheduler. A missing RPC does not compile. */
export function schedulerHandlers(
  dependencies: ScheduleDependencies,
): Handlers<typeof schedulerContract.rpcs> {
  const { db, databaseNow } = dependencies;
  const turn =
    (isPaused: boolean) =>
    async ({ params }: { params: SchedulePath }, call: CallContext) => {
      const { deployment } = await authorize(dependencies, params, 'owner', call);
      const row = await turnSchedule(dependencies, deployment, params.event, isPaused);
      return { data: await recordOf(db, row) };
    };
  return {
    'cron.preview': async ({ body: { schedule, timezone, count } }) => {
      const now = await databaseNow();
      const cron = { schedule, timezone };
      refuseInvalid(cron, now);
      const times = [...timesAfter(cron, now).take(count)].map((time) => new Date(time).toISOString());
      return {
        data: { schedule, timezone: timezone ?? 'UTC', description: describeSchedule(cron), times },
      };
    },
    'schedules.list': async ({ params, query }, call) => {
      refuseDeepPage(query);
      const { deployment, seesCode } = await authorize(dependencies, params, 'visible', call);
      const { rows, total } = await listSchedules(db, deployment, query);
      const last = await lastOccurrences(
        db,
        rows.map(({ id }) => id),
      );
      return {
        data: rows.map((row) => shownSchedule(toScheduleRecord(row, last.get(row.id)), seesCode)),
        pagination: paginationOf(query, total),
      };
    },
    'occurrences.list': async ({ params, query }, call) => {
      refuseDeepPage(query);
      const { deployment, seesCode } = await authorize(dependencies, params, 'visible', call);
      const row = await findLedger(db, deployment, params.event);
      if (row === undefined) throw notFound();
      const { data, pagination } = await listOccurrences(db, row.id, query);
      return { data: data.map((one) => shownOccurrence(one, seesCode)), pagination };
    },
    'schedules.pause': turn(true),
    'schedules.resume': turn(false),
    'schedules.run': (request, call) => runNow(dependencies, request, call),
  };
}

const notFound = () => new ServiceError('schedule_not_found');

const shownOccurrence = (record: OccurrenceRecord, seesCode = false): OccurrenceRecord =>
  seesCode ? record : { ...record, error: toldError(record.error) };

function shownSchedule(record: ScheduleRecord, seesCode = false): ScheduleRecord {
  const { lastOccurrence: last, lastError } = record;
  if (seesCode) return record;
  return { ...record, lastOccurrence: last && shownOccurrence(last), lastError: toldError(lastError) };
}

/** @throws `schedule_not_found` */
async function turnSchedule(
  { db, databaseNow, announceDue, signals }: ScheduleDependencies,
  deployment: string,
  event: string,
  isPaused: boolean,
): Promise<ShownSchedule> {
  const now = await databaseNow();
  const { row, ended } = await transaction(db, async (trx) => {
    const found = await findScheduled(trx, deployment, event).forUpdate().executeTakeFirst();
    if (found === undefined) throw notFound();
    if (found.is_paused === isPaused) return { row: found, ended: [] };
    const ended = isPaused ? await endWaiting(trx, found, PAUSED, now) : [];
    return { row: await turnHeld(trx, found, isPaused, now), ended };
  });
  signals.ended(ended);
  announceDue();
  return row;
}

const PAUSED = 'schedule_paused';

async function turnHeld(trx: Trx, found: ScheduleRow, isPaused: boolean, now: number): Promise<ScheduleRow> {
  const { timing, ledger, pauseEnded } = changeTiming(timingOf(found), { isPaused }, now, PAUSED);
  await writeLedger(trx, [{ scheduleId: found.id, rows: ledger, pauseEnded }], now);
  return trx
    .updateTable('schedules')
    .set(timingColumns(timing))
    .where('id', '=', found.id)
    .returningAll()
    .executeTakeFirstOrThrow();
}

async function recordOf(db: Db, row: ShownSchedule): Promise<ScheduleRecord> {
  return toScheduleRecord(row, (await lastOccurrences(db, [row.id])).get(row.id));
}

function toScheduleRecord(row: ShownSchedule, last: ShownOccurrence | undefined): ScheduleRecord {
  const pausedBy = [
    ...(row.is_paused ? ['schedule' as const] : []),
    ...(row.deployment_paused ? ['deployment' as const] : []),
  ];
  return {
    event: row.event,
    // `listSchedules` left out what is not bound, or has no schedule.
    eventVersion: row.event_version ?? 0,
    schedule: row.schedule ?? '',
    timezone: row.timezone ?? 'UTC',
    status: pausedBy.length > 0 ? 'paused' : 'active',
    pausedBy,
    nextAt: row.next_at?.toISOString() ?? null,
    lastOccurrence: last === undefined ? null : toRecord(last),
    counter: row.counter,
    consecutiveFailures: row.consecutive_failures,
    lastError: row.last_error,
  };
}

/** @throws `invalid_cron_schedule` */
function refuseInvalid(cron: CronSchedule, now: number): void {
  const problem = checkCronSchedule(cron, now);
  if (problem === undefined) return;
  const errors = [fieldProblem(`/${problem.field}`, 'invalid_cron_schedule', problem.reason)];
  throw new ServiceError('invalid_cron_schedule', `/${problem.field}: ${problem.reason}`, { errors });
}

/** The next due times, in order. */
function* timesAfter(cron: CronSchedule, after: number): Generator<number, void> {
  for (let time = nextDue(cron, after); time !== undefined; time = nextDue(cron, time)) yield time;
}
