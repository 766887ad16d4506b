import { setTimeout as wait } from 'node:timers/promises';
import { Resources } from '@orrery/service-kit';
import { query, startNatsServer } from '@orrery/testing/servers';
import { builtProgram, startFiveProcesses, startNode } from '@orrery/testing/system';
import { type OpenLoop, startOpenLoop } from './load/open-loop.js';
import { watchMachine } from './measuring/machine.js';
import { quantile } from './measuring/report.js';
import { runMeasurement } from './measuring/run-measurement.js';
import { startPostgres, untilTrue } from './systems/postgres.js';
import { SCHEDULED_TICK, setUpSchedules } from './systems/set-up.js';

interface SchedulesOptions {
  /** Schedules that are due in the same minute. */
  readonly schedules: number;
  /** Schedules that are due much later, for the figure of an idle scheduler. */
  readonly idle: number;
  /** Executions a second by API callers, beside the schedules. */
  readonly apiPerSecond: number;
  /** Occurrences that each scheduler sends in a second at first; 0: as it is configured by default. */
  readonly perSecond: number;
  /** Until the schedules are due, for setting them up, in seconds. */
  readonly lead: number;
  /** Of dispatching as fast as possible. */
  readonly rounds: number;
  readonly write: (line: string) => void;
}

/** As fast as possible: nothing bounds the rate, and as many slots as it takes. */
const UNBOUNDED = { SCHEDULE_PER_SECOND: '10000', SCHEDULE_CONCURRENCY: '400' };
/** Schedulers notice within this time what was changed without telling them, in milliseconds. */
const NOTICED_MS = 20_000;
/** How often it is asked whether all has ended: counting takes the database milliseconds, which everyone would notice. */
const ASK_EVERY_MS = 1000;
const IDLE_SECONDS = 30;

/**
 * How fast two schedulers dispatch schedules that are due in the same minute, how late, and what API callers notice: as
 * they are configured, and then as fast as possible, with new processes in each round. At last what an idle scheduler costs.
 */
async function runSchedules(options: SchedulesOptions): Promise<void> {
  const { schedules, apiPerSecond, perSecond, lead, rounds, write } = options;
  await using resources = new Resources();
  const { folder, postgres } = await startPostgres(resources);
  const { url: databaseUrl } = postgres;
  const { url: natsUrl } = resources.use('nats', await startNatsServer());
  const configured = {
    RATE_LIMITS: 'false',
    ...(perSecond > 0 && { SCHEDULE_PER_SECOND: String(perSecond) }),
  };
  const backends = { databaseUrl, natsUrl, logFolder: folder };
  const system = resources.use('system', await startFiveProcesses(backends, configured));
  const other = system.add('scheduler');
  const due = new Date(Math.ceil((Date.now() + lead * 1000) / 60_000) * 60_000);
  const cron = `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`;
  const paths = await setUpSchedules(system, schedules, cron);
  const isFollowed = `(select count(*) from scheduler.schedules where next_at is not null) >= ${schedules}`;
  await untilTrue(databaseUrl, isFollowed, ASK_EVERY_MS);
  if (Date.now() > due.getTime() - 10_000)
    throw new Error('They were due before all were made: raise --lead.');
  write(`${schedules} schedules, due at ${due.toISOString()}`);
  const load = () => startOpenLoop(system, paths, { body: SCHEDULED_TICK, perSecond: apiPerSecond });
  const before = load();
  await wait(5000);
  write(`API p50 · p99 before: ${await latencyOf(before)}`);
  const dispatch = async (name: string, at: Date) =>
    write(`${name}: ${await dispatched(databaseUrl, at, schedules, load)}`);
  await dispatch('as configured', due);
  await Promise.all([system.process('scheduler').end(), other.end()]);
  const variables = { DATABASE_URL: databaseUrl, NATS_URL: natsUrl, HEALTH_PORT: '0' };
  const start = async (more: Record<string, string> = {}) => {
    const scheduler = startNode(builtProgram('scheduler'), { ...variables, ...more });
    await scheduler.waitFor(/"msg":"started"/);
    return scheduler;
  };
  for (let round = 1; round <= rounds; round += 1) {
    await using _one = await start(UNBOUNDED);
    await using _other = await start(UNBOUNDED);
    await dispatch(`as fast as possible, round ${round}`, await dueSoon(databaseUrl));
  }
  await using _idle = await start();
  await measureIdle(databaseUrl, options);
}

/** Makes all schedules due once more. */
async function dueSoon(databaseUrl: string): Promise<Date> {
  const due = new Date(Date.now() + NOTICED_MS);
  await query(databaseUrl, 'update scheduler.schedules set next_at = $1', [due]);
  return due;
}

/** Waits until so many schedules that are due at one time have fired, beside a load. */
async function dispatched(
  databaseUrl: string,
  at: Date,
  count: number,
  load: () => OpenLoop,
): Promise<string> {
  await wait(Math.max(0, at.getTime() - Date.now()));
  const beside = load();
  const ended = `(select count(*) from scheduler.occurrences
    where status <> 'running' and due_at = '${at.toISOString()}') >= ${count}`;
  await untilTrue(databaseUrl, ended, ASK_EVERY_MS);
  const api = await latencyOf(beside);
  const rows = await query<{ late: number }>(
    databaseUrl,
    `select (extract(epoch from ended_at - $1) * 1000)::float as late from scheduler.occurrences
     where due_at = $1 and status = 'fired' and outcome = 'succeeded'`,
    [at],
  );
  const late = rows.map((row) => row.late);
  const last = quantile(late, 1);
  const rate = Math.round((count * 1000) / last);
  return `${(last / 1000).toFixed(1)} s, ${rate}/s; lateness p50 · p99 ${show(late)}; API ${api}`;
}

/** Of a load that ends. @throws Error where any call had no success */
async function latencyOf(load: OpenLoop): Promise<string> {
  const calls = await load.stop();
  const failed = calls.find(({ failure }) => failure !== '');
  if (failed !== undefined) throw new Error(`POST ${failed.path} was answered ${failed.failure}`);
  return show(calls.map(({ startedAt, endedAt }) => endedAt - startedAt));
}

const show = (values: readonly number[]): string =>
  `${Math.round(quantile(values, 0.5))} · ${Math.round(quantile(values, 0.99))} ms`;

/** What the one scheduler that runs uses while nothing is due, before and after `idle` schedules more are there. */
async function measureIdle(databaseUrl: string, { idle, write }: SchedulesOptions): Promise<void> {
  const measure = async () => {
    const [used, fromTransactions] = [watchMachine(), await transactions(databaseUrl)];
    await wait(IDLE_SECONDS * 1000);
    const percent = ((used().seconds.scheduler ?? 0) / IDLE_SECONDS) * 100;
    const made = Math.round((await transactions(databaseUrl)) - fromTransactions);
    return `${percent.toFixed(2)} % of a core, ${made} transactions in ${IDLE_SECONDS} s`;
  };
  await wait(5000);
  write(`idle: ${await measure()}`);
  await query(
    databaseUrl,
    `insert into scheduler.schedules (deployment, world_id, world_address, event, schedule, next_at, decided_until)
     select '0x' || lpad(to_hex(n), 40, '0'), 1, '', 'idle', '0 0 1 1 *', now() + interval '30 days', now()
     from generate_series(1, $1::int) n`,
    [idle],
  );
  await query(databaseUrl, 'analyze scheduler.schedules');
  write(`idle with ${idle} schedules: ${await measure()}`);
}

/** Of all services. */
async function transactions(databaseUrl: string): Promise<number> {
  const text = 'select sum(xact_commit)::float as n from pg_stat_database where datname = current_database()';
  const [row] = await query<{ n: number }>(databaseUrl, text);
  return row?.n ?? 0;
}

await runMeasurement(
  { schedules: 10_000, idle: 100_000, 'api-per-second': 50, 'per-second': 0, lead: 90, rounds: 3 },
  ({ 'api-per-second': apiPerSecond, 'per-second': perSecond, ...given }) =>
    runSchedules({ ...given, apiPerSecond, perSecond }),
);
