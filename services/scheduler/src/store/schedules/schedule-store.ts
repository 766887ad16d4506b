import type { PageQuery } from '@orrery/contracts';
import { jsonb, page, prepared } from '@orrery/database';
import type { CronSchedule } from '@orrery/expressions';
import { sql } from 'kysely';
import type { LedgerRow, Timing } from '../../core/schedules/schedule-rules.js';
import { few } from '../tables/few.js';
import type { Db, ScheduleRow, Trx } from '../tables/schema.js';

/** What a row says of its due times. */
export const timingOf = (row: ScheduleRow): Timing => ({
  cron: cronOf(row),
  isPaused: row.is_paused,
  deploymentPaused: row.deployment_paused,
  nextAt: row.next_at?.getTime() ?? null,
  decidedUntil: row.decided_until.getTime(),
});

/** Undefined members are left out, so that two definitions can be compared. */
export function cronOf({
  schedule,
  timezone,
}: Pick<ScheduleRow, 'schedule' | 'timezone'>): CronSchedule | null {
  if (schedule === null) return null;
  return timezone === null ? { schedule } : { schedule, timezone };
}

/** The columns of a row that say what its due times are. */
export const timingColumns = ({ cron, isPaused, deploymentPaused, nextAt, decidedUntil }: Timing) => ({
  schedule: cron?.schedule ?? null,
  timezone: cron?.timezone ?? null,
  is_paused: isPaused,
  deployment_paused: deploymentPaused,
  next_at: nextAt === null ? null : new Date(nextAt),
  decided_until: new Date(decidedUntil),
});

export interface ScheduleLedger {
  readonly scheduleId: number;
  readonly rows: readonly LedgerRow[];
  /** When the pause ended that lasted, if it did. */
  readonly pauseEnded: number | null;
}

/** Writes rows that are not executed. A due time that has a row keeps it. `now` in milliseconds since the epoch. */
export async function writeLedger(trx: Trx, ledgers: readonly ScheduleLedger[], now: number): Promise<void> {
  for (const { scheduleId, pauseEnded } of ledgers) {
    if (pauseEnded === null) continue;
    await trx
      .updateTable('occurrences')
      .set({ until: new Date(pauseEnded) })
      .where('schedule_id', '=', scheduleId)
      .where('kind', '=', 'pause')
      .where('until', 'is', null)
      .execute();
  }
  const rows = ledgers.flatMap(({ scheduleId, rows }) =>
    rows.map(({ kind, dueAt, until, count, status, reason }) => ({
      schedule_id: scheduleId,
      kind,
      due_at: new Date(dueAt),
      until: until === null ? null : new Date(until),
      count,
      status,
      reason,
      started_at: new Date(now),
    })),
  );
  if (rows.length === 0) return;
  await sql`
    insert into occurrences (schedule_id, kind, due_at, until, count, status, reason, started_at, ended_at)
    select schedule_id, kind, due_at, until, count, status, reason, started_at,
      case when kind <> 'pause' then started_at end
    from jsonb_to_recordset(${jsonb(rows)}) as r (schedule_id bigint, kind text, due_at timestamptz, until timestamptz,
      count integer, status text, reason text, started_at timestamptz)
    on conflict (schedule_id, due_at) where kind = 'due' do nothing`.execute(trx);
}

/** A deployment's schedules, held against other changes until the transaction ends. */
export const holdSchedules = (trx: Trx, deployment: string): Promise<ScheduleRow[]> =>
  trx
    .selectFrom('schedules')
    .selectAll()
    .where('deployment', '=', deployment)
    .orderBy('id')
    .forUpdate()
    .execute();

// Each of them is looked up by its key.
const pausedAmong = prepared<{ id: number; decided_until: Date }>(
  'paused-among',
  `select id, decided_until from schedules where id = any($1::bigint[]) and is_paused and ${few('id')}`,
);

/** For each schedule when its owner had paused it, or the last change since then, in milliseconds; null where it is not. */
export async function pausedSince(db: Db, ids: readonly number[]): Promise<(number | null)[]> {
  const rows = await pausedAmong(db, [ids]);
  const since = new Map(rows.map(({ id, decided_until }) => [id, decided_until.getTime()]));
  return ids.map((id) => since.get(id) ?? null);
}

/** What a record shows. What is sent, and the last result, may be large and are not read for it. */
const SHOWN = [
  'id',
  'event',
  'event_version',
  'schedule',
  'timezone',
  'is_paused',
  'deployment_paused',
  'next_at',
  'counter',
  'consecutive_failures',
  'last_error',
] as const satisfies readonly (keyof ScheduleRow)[];
export type ShownSchedule = Pick<ScheduleRow, (typeof SHOWN)[number]>;

/** The deployment's schedules: events that are bound to a version that has one. */
const scheduled = (db: Db, deployment: string) =>
  db
    .selectFrom('schedules')
    .where('deployment', '=', deployment)
    .where('binding_id', 'is not', null)
    .where('schedule', 'is not', null);

/** A page of a deployment's schedules, and how many there are. */
export async function listSchedules(
  db: Db,
  deployment: string,
  query: PageQuery,
): Promise<{ readonly rows: readonly ShownSchedule[]; readonly total: number }> {
  const all = scheduled(db, deployment);
  const rows = await page(all.select(SHOWN).orderBy('id'), query).execute();
  const { total } = await all.select(({ fn }) => fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  return { rows, total };
}

export const findScheduled = (db: Db, deployment: string, event: string) =>
  scheduled(db, deployment).selectAll().where('event', '=', event);

/** A schedule, or what is left of one: an event whose versions never had a schedule has no ledger. */
export const findLedger = (db: Db, deployment: string, event: string): Promise<{ id: number } | undefined> =>
  db
    .selectFrom('schedules as s')
    .select('s.id')
    .where('s.deployment', '=', deployment)
    .where('s.event', '=', event)
    .where(({ eb, or, exists, selectFrom }) => {
      const ledger = selectFrom('occurrences as o').select('o.id').whereRef('o.schedule_id', '=', 's.id');
      return or([eb('s.schedule', 'is not', null), exists(ledger)]);
    })
    .executeTakeFirst();
