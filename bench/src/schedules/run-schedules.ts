import { Resources } from '@orrery/service-kit';
import { startNatsServer } from '@orrery/testing/servers';
import { builtProgram, startFiveProcesses, startNode } from '@orrery/testing/system';
import { Client } from 'pg';
import { startPostgres } from '../start-postgres.js';
import { type BenchQueue, jobsOf, PACES, type Pace, type QueueJob, startQueue } from './bench-queue.js';
import { compareWithQueue } from './compare-with-queue.js';
import { beside, dispatched, type Load, show, until } from './dispatch.js';
import { measureIdle } from './measure-idle.js';
import { setUpSchedules } from './set-up-schedules.js';
import { steadyLoad } from './steady-load.js';

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
  /** Of the comparison as fast as possible. */
  readonly rounds: number;
  readonly write: (line: string) => void;
}

/**
 * How fast two schedulers dispatch schedules that are due in the same minute, how late, and what API callers notice: as
 * they are configured, and then as fast as possible. Beside it stand two workers of pg-boss, which make the same calls under
 * the same load: in a handler that pg-boss calls, and then in a loop. At last what an idle scheduler costs.
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
  const jobs = await jobsOf(client);
  await runNewWorkers(queue, jobs, 'loop');
  if (Date.now() > due.getTime() - 5000) throw new Error('They were due before all were made: raise --lead.');
  write(`${schedules} schedules, due at ${due.toISOString()}`);

  const load: Load = (signal) =>
    steadyLoad(system, deployed.executePaths, { event: 'tick 0', input: { n: 0 } }, apiPerSecond, signal);
  const before = await load(
    AbortSignal.timeout(Math.max(3000, Math.min(20_000, due.getTime() - Date.now() - 3000))),
  );
  write(`API p50 · p99 before: ${show(before)}`);
  const { line } = await dispatched(client, { at: due, count: schedules, load });
  write(`schedulers, as configured: ${line}`);
  const [api, rate] = await beside(load, () => runNewWorkers(queue, jobs, 'polling'));
  write(`pg-boss, ${PACES.polling}: ${Math.round(rate)}/s; API ${show(api)}`);
  await Promise.all([system.process('scheduler').end(), other.end()]);
  const variables = { DATABASE_URL: databaseUrl, NATS_URL: natsUrl, HEALTH_PORT: '0' };
  await compareWithQueue({ ...options, client, queue, jobs, load, variables });
  const idle = resources.use('scheduler', startNode(builtProgram('scheduler'), variables));
  await idle.waitFor(/"msg":"started"/);
  await measureIdle(idle.pid, client, options);
}

async function runNewWorkers(queue: BenchQueue, jobs: readonly QueueJob[], pace: Pace): Promise<number> {
  await using _workers = await queue.startWorkers(pace);
  // Without waiting here the workers would be ended first.
  return await queue.run(jobs);
}

const untilFollowed = (client: Client, count: number) =>
  until(client, 'select count(*)::int as n from scheduler.schedules where next_at is not null', count);
