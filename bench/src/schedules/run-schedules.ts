import { setTimeout as wait } from 'node:timers/promises';
import { Resources } from '@orrery/service-kit';
import { startNatsServer } from '@orrery/testing/servers';
import { builtProgram, type NodeProcess, startFiveProcesses, startNode } from '@orrery/testing/system';
import { Client } from 'pg';
import { startPostgres } from '../start-postgres.js';
import { type BenchQueue, jobsOf, type Pace, type QueueJob, startQueue } from './bench-queue.js';
import { measureIdle } from './measure-idle.js';
import { setUpSchedules } from './set-up-schedules.js';
import { quantile, steadyLoad } from './steady-load.js';

export interface SchedulesOptions {
  /** Schedules that are due in the same minute. */
  readonly schedules: number;
  /** Schedules that are due much later, for the figure of an idle scheduler. */
  readonly idle: number;
  /** Executions a second by API callers, beside the schedules. */
  readonly apiPerSecond: number;
  /** Occurrences that each scheduler sends in a second at first; 0: as it is configured by default. */
  readonly perSecond: number;
  /** Until the schedules are due, for setting them up, in seconds. */
  readonly leadSeconds: number;
  readonly write: (line: string) => void;
}

/**
 * How fast two schedulers dispatch schedules that are due in the same minute, how late, and what API callers notice: as
 * they are configured, then as fast as possible, in turns with pg-boss, whose two workers make the same calls under the same
 * load: first in a handler that pg-boss calls, then in a loop without a pause between two batches. Schedulers and workers are
 * new in the first turn as fast as possible, and are the same processes in the one after it; who does not have the turn
 * stands still. At last what an idle scheduler costs.
 */
export async function runSchedules(options: SchedulesOptions): Promise<void> {
  const { schedules, apiPerSecond, perSecond, leadSeconds, write } = options;
  await using resources = new Resources();
  const { folder, postgres } = await startPostgres(resources);
  const { url: databaseUrl } = postgres;
  const { url: natsUrl } = resources.use('nats', await startNatsServer());
  const backends = { databaseUrl, natsUrl, logFolder: folder };
  const configured = {
    RATE_LIMITS: 'false',
    ...(perSecond > 0 && { SCHEDULE_PER_SECOND: String(perSecond) }),
  };
  const system = resources.use('system', await startFiveProcesses(backends, configured));
  const other = system.add('scheduler');
  const client = new Client({ connectionString: databaseUrl });
  await client.connect();
  resources.add('client', () => client.end());

  const due = new Date(Math.ceil((Date.now() + leadSeconds * 1000) / 60_000) * 60_000);
  const deployed = await setUpSchedules(
    system,
    schedules,
    `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`,
  );
  await untilFollowed(client, schedules);
  // Each event has run once before anything is measured: the first time it makes its instance.
  const queue = await startQueue({ databaseUrl, natsUrl });
  resources.add('queue', () => queue[Symbol.asyncDispose]());
  const jobs = jobsOf(deployed, schedules);
  await runNewWorkers(queue, jobs, 'loop');
  if (Date.now() > due.getTime() - 5000) throw new Error('They were due before all were made: raise --lead.');
  write(`${schedules} schedules, due at ${due.toISOString()}`);

  const load = (signal: AbortSignal) =>
    steadyLoad(system, deployed.executePaths, { event: 'tick 0', input: { n: 0 } }, apiPerSecond, signal);
  const before = await load(
    AbortSignal.timeout(Math.max(3000, Math.min(20_000, due.getTime() - Date.now() - 3000))),
  );
  write(`API p50 · p99 before: ${show(before)}`);
  const dispatch = async (at: Date) => {
    await wait(Math.max(0, at.getTime() - Date.now()));
    const ended = new AbortController();
    const during = load(ended.signal);
    await untilFired(client, at, schedules);
    ended.abort();
    const { last, ...lateness } = await latenessOf(client, at);
    const rate = Math.round((schedules * 1000) / last);
    return `${(last / 1000).toFixed(1)} s, ${rate}/s; lateness p50 · p99 ${show(lateness)}; API ${show(await during)}`;
  };
  const showQueue = async (pace: Pace, run: () => Promise<number>) => {
    const ended = new AbortController();
    const beside = load(ended.signal);
    const rate = await run();
    ended.abort();
    write(`pg-boss, ${PACES[pace]}: ${Math.round(rate)}/s; API ${show(await beside)}`);
  };
  write(`dispatched as configured: ${await dispatch(due)}`);
  await showQueue('polling', () => runNewWorkers(queue, jobs, 'polling'));
  await Promise.all([system.process('scheduler').end(), other.end()]);
  const variables = { DATABASE_URL: databaseUrl, NATS_URL: natsUrl, HEALTH_PORT: '0' };
  const unbounded = { ...variables, SCHEDULE_PER_SECOND: '10000', SCHEDULE_CONCURRENCY: '400' };
  const start = () => resources.use('scheduler', startNode(builtProgram('scheduler'), unbounded));
  const schedulers = await Promise.all([start(), start()].map(started));
  await using workers = await queue.startWorkers('loop');
  for (let round = 0; round < ROUNDS; round += 1) {
    workers.pause();
    write(`dispatched as fast as possible: ${await dispatch(await dueSoon(client))}`);
    workers.resume();
    await showQueue('loop', () => queue.run(jobs));
  }
  workers.pause();
  await measureIdle(schedulers[0]?.pid ?? 0, client, options);
}

/** Turns as fast as possible, of schedulers and workers. */
const ROUNDS = 2;

const PACES: Record<Pace, string> = {
  polling: 'its own two workers with a handler, batches of 100 at their shortest interval',
  loop: 'two workers, batches of 100 without a pause',
};

async function runNewWorkers(queue: BenchQueue, jobs: readonly QueueJob[], pace: Pace): Promise<number> {
  await using _workers = await queue.startWorkers(pace);
  // Without waiting here the workers would be ended first.
  return await queue.run(jobs);
}

const show = ({ p50, p99 }: { p50: number; p99: number }) => `${Math.round(p50)} · ${Math.round(p99)} ms`;

async function started(process: NodeProcess): Promise<NodeProcess> {
  await process.waitFor(/"msg":"started"/);
  return process;
}

/** Schedulers notice within this time what was changed without telling them, in milliseconds. */
const NOTICED_MS = 20_000;

/** Makes all schedules due once more. */
async function dueSoon(client: Client): Promise<Date> {
  const due = new Date(Date.now() + NOTICED_MS);
  await client.query('update scheduler.schedules set next_at = $1', [due]);
  return due;
}

async function until(client: Client, query: string, enough: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ n: number }>(query);
    if ((rows[0]?.n ?? 0) >= enough) return;
    await wait(200);
  }
}

const untilFollowed = (client: Client, count: number) =>
  until(client, 'select count(*)::int as n from scheduler.schedules where next_at is not null', count);
const untilFired = (client: Client, due: Date, count: number) =>
  until(
    client,
    `select count(*)::int as n from scheduler.occurrences
     where status <> 'running' and due_at = '${due.toISOString()}'`,
    count,
  );

/** From the due time to the outcome, in milliseconds. */
async function latenessOf(client: Client, due: Date) {
  const { rows } = await client.query<{ late: number }>(
    `select (extract(epoch from ended_at - $1) * 1000)::float as late from scheduler.occurrences
     where due_at = $1 and status = 'fired' and outcome = 'succeeded' order by 1`,
    [due],
  );
  const sorted = rows.map(({ late }) => late);
  return { p50: quantile(sorted, 0.5), p99: quantile(sorted, 0.99), last: sorted.at(-1) ?? Number.NaN };
}
