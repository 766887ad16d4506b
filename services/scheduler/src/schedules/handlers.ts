import type { Bus } from '@orrery/bus';
import {
  abortSignalOf,
  type CallContext,
  catalogContract,
  type Handlers,
  paginationOf,
  type ReplyOf,
  refuseDeepPage,
  runtimeContract,
  type ScheduleRecord,
  ServiceError,
  type scheduleRpcs,
} from '@orrery/contracts';
import { answerOnce, findAnswer, jsonb, keyedRequest, transaction } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { DatabaseClock } from '../database/database-clock.js';
import type { Db } from '../database/db.js';
import type { OccurrenceRow, ScheduleRow } from '../database/schema.js';
import { CLAIM_MS, contentOf, expectedOf, toClaimed } from '../firing/claim-due.js';
import type { Dispatcher } from '../firing/dispatcher.js';
import type { Syncs } from '../following/start-syncs.js';
import {
  findOccurrence,
  lastOccurrences,
  listOccurrences,
  toRecord,
} from '../occurrences/occurrence-store.js';
import { changeTiming } from './schedule-rules.js';
import { findSchedule, timingColumns, timingOf, writeLedger } from './schedule-store.js';

type Rpcs = typeof scheduleRpcs;
type Authorized = ReplyOf<(typeof runtimeContract.rpcs)['deployments.authorize']>;

export interface ScheduleDependencies {
  readonly db: Db;
  readonly bus: Pick<Bus, 'call'>;
  readonly clock: Clock;
  readonly databaseNow: DatabaseClock;
  readonly syncs: Pick<Syncs, 'now'>;
  readonly dispatcher: Pick<Dispatcher, 'take' | 'settled'>;
  /** Something may be due earlier than it was, in any process. */
  readonly announceDue: () => void;
}

export function scheduleHandlers(dependencies: ScheduleDependencies): Handlers<Rpcs> {
  const { db } = dependencies;
  const turn =
    (isPaused: boolean) =>
    async ({ params }: { params: SchedulePath }, call: CallContext) => {
      const { deployment } = await authorize(dependencies, params, 'owner', call);
      const row = await turnSchedule(dependencies, deployment, params.event, isPaused);
      return { data: await recordOf(db, row) };
    };
  return {
    'schedules.list': async ({ params, query }, call) => {
      refuseDeepPage(query);
      const { deployment } = await authorize(dependencies, params, 'visible', call);
      const rows = await scheduled(db, deployment).selectAll().orderBy('id').execute();
      const from = (query.page - 1) * query.limit;
      const shown = rows.slice(from, from + query.limit);
      const last = await lastOccurrences(
        db,
        shown.map(({ id }) => id),
      );
      return {
        data: shown.map((row) => toScheduleRecord(row, last.get(row.id))),
        pagination: paginationOf(query, rows.length),
      };
    },
    'occurrences.list': async ({ params, query }, call) => {
      refuseDeepPage(query);
      const { deployment } = await authorize(dependencies, params, 'visible', call);
      const row = await findSchedule(db, deployment, params.event);
      // An event whose versions never had a schedule has no ledger.
      if (row === undefined || (row.schedule === null && !(await hasLedger(db, row.id)))) throw notFound();
      return listOccurrences(db, row.id, query);
    },
    'schedules.pause': turn(true),
    'schedules.resume': turn(false),
    'schedules.run': (request, call) => runNow(dependencies, request, call),
  };
}

interface SchedulePath {
  readonly worldAddress: string;
  readonly address: string;
  readonly event: string;
}

const notFound = () => new ServiceError('schedule_not_found');

/** The deployments' schedules: events that are bound to a version that has one. */
const scheduled = (db: Db, deployment: string) =>
  db
    .selectFrom('schedules')
    .where('deployment', '=', deployment)
    .where('binding_id', 'is not', null)
    .where('schedule', 'is not', null);

async function hasLedger(db: Db, scheduleId: number): Promise<boolean> {
  const found = await db
    .selectFrom('occurrences')
    .select('id')
    .where('schedule_id', '=', scheduleId)
    .limit(1)
    .executeTakeFirst();
  return found !== undefined;
}

/**
 * Asks the runtime whether the caller may, then makes sure that what was answered to a caller before, such as a new
 * binding or a changed draft, is followed. @throws `deployment_not_found`, `forbidden`
 */
async function authorize(
  { db, bus, syncs }: ScheduleDependencies,
  { worldAddress, address }: Pick<SchedulePath, 'worldAddress' | 'address'>,
  relation: 'visible' | 'owner',
  call: CallContext,
): Promise<Authorized> {
  const request = { params: { worldAddress, address }, relation };
  const found = await bus.call(runtimeContract.rpcs['deployments.authorize'], request, call);
  const { deployment, lifecycle } = found;
  const known = await db
    .selectFrom('deployments')
    .select(['seq', 'hash'])
    .where('address', '=', deployment)
    .executeTakeFirst();
  const isBehind = known?.seq !== lifecycle.seq || known.hash !== lifecycle.hash;
  if (isBehind || (await hasChangedDraft(db, bus, deployment, call)))
    await syncs.now(deployment, abortSignalOf(call.signal));
  return found;
}

async function hasChangedDraft(
  db: Db,
  bus: Pick<Bus, 'call'>,
  deployment: string,
  call: CallContext,
): Promise<boolean> {
  const drafts = await db
    .selectFrom('schedules')
    .select(['version_id', 'definition_hash'])
    .where('deployment', '=', deployment)
    .where('is_draft', '=', true)
    .where('version_id', 'is not', null)
    .execute();
  if (drafts.length === 0) return false;
  const asked = drafts.map(({ version_id, definition_hash }) => ({
    versionId: version_id ?? 0,
    hash: definition_hash ?? '',
  }));
  const rpc = catalogContract.rpcs['definitions.confirm'];
  const { versions } = await bus.call(rpc, { versions: asked, schemas: [], worlds: [] }, call);
  return versions.some(({ state }) => state !== 'same');
}

/** @throws `schedule_not_found` */
async function turnSchedule(
  { db, databaseNow, announceDue }: ScheduleDependencies,
  deployment: string,
  event: string,
  isPaused: boolean,
): Promise<ScheduleRow> {
  const now = await databaseNow();
  const row = await transaction(db, async (trx) => {
    const found = await scheduled(trx, deployment)
      .selectAll()
      .where('event', '=', event)
      .forUpdate()
      .executeTakeFirst();
    if (found === undefined) throw notFound();
    if (found.is_paused === isPaused) return found;
    const { timing, ledger, pauseEnded } = changeTiming(
      timingOf(found),
      { isPaused },
      now,
      'schedule_paused',
    );
    await writeLedger(trx, [{ scheduleId: found.id, rows: ledger, pauseEnded }], now);
    return trx
      .updateTable('schedules')
      .set(timingColumns(timing))
      .where('id', '=', found.id)
      .returningAll()
      .executeTakeFirstOrThrow();
  });
  announceDue();
  return row;
}

/** What is left of the caller's time when it is answered, in milliseconds. */
const ANSWER_MARGIN_MS = 500;

/**
 * Executes the event now, by an occurrence of its own that leaves counter, state and due times alone.
 * @throws `schedule_not_found`, `deployment_paused`
 */
async function runNow(
  dependencies: ScheduleDependencies,
  { params, headers }: { params: SchedulePath; headers: { 'idempotency-key'?: string | undefined } },
  call: CallContext,
): Promise<ReplyOf<Rpcs['schedules.run']>> {
  const { db, clock, databaseNow, dispatcher } = dependencies;
  const { deployment, isPaused } = await authorize(dependencies, params, 'owner', call);
  const now = await databaseNow();
  const operation = `run ${deployment} ${params.event}`;
  const keyed = keyedRequest(operation, headers['idempotency-key'], {}, call.caller, now);
  const answer = keyed && (await findAnswer(db, keyed));
  // Stored by this very operation.
  if (answer !== undefined) return { data: toRecord(await findOccurrence(db, answer as number)) };
  if (isPaused) throw new ServiceError('deployment_paused');
  const id = await transaction(db, (trx) =>
    answerOnce(trx, keyed, () => insertManual(trx, deployment, params.event, now)),
  );
  const row = await findOccurrence(db, id);
  if (row.status === 'running') {
    dispatcher.take([toClaimed({ ...row, deployment, event: params.event })], now);
    const enough = new AbortController();
    const late = clock.sleep(Math.max(0, call.deadline - clock.now() - ANSWER_MARGIN_MS), enough.signal);
    await Promise.race([dispatcher.settled(id), late.catch(() => undefined)]);
    enough.abort();
  }
  return { data: toRecord(await findOccurrence(db, id)) };
}

async function insertManual(db: Db, deployment: string, event: string, now: number): Promise<number> {
  const row = await scheduled(db, deployment).selectAll().where('event', '=', event).executeTakeFirst();
  if (row === undefined) throw notFound();
  const { input, error, counter } = contentOf(row, now, now);
  const expected = expectedOf(row);
  const { id } = await db
    .insertInto('occurrences')
    .values({
      schedule_id: row.id,
      kind: 'manual',
      due_at: new Date(now),
      status: 'running',
      version_id: row.version_id,
      event_version: row.event_version,
      counter,
      input: input && jsonb(input),
      expected: expected && jsonb(expected),
      error: error && jsonb(error),
      started_at: new Date(now),
      claimed_until: new Date(now + CLAIM_MS),
      acknowledged: false,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

async function recordOf(db: Db, row: ScheduleRow): Promise<ScheduleRecord> {
  return toScheduleRecord(row, (await lastOccurrences(db, [row.id])).get(row.id));
}

function toScheduleRecord(row: ScheduleRow, last: OccurrenceRow | undefined): ScheduleRecord {
  const pausedBy = [
    ...(row.is_paused ? ['schedule' as const] : []),
    ...(row.deployment_paused ? ['deployment' as const] : []),
  ];
  return {
    event: row.event,
    // `scheduled` left out what is not bound, or has no schedule.
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
