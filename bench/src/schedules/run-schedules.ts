import { setTimeout as wait } from 'node:timers/promises';
import { Resources } from '@orrery/service-kit';
import { startNatsServer } from '@orrery/testing/servers';
import { builtProgram, type NodeProcess, startFiveProcesses, startNode } from '@orrery/testing/system';
import { Client } from 'pg';
import PgBoss from 'pg-boss';
import { startPostgres } from '../start-postgres.js';
import { measureIdle } from './measure-idle.js';
import { type ScheduledDeployments, setUpSchedules } from './set-up-schedules.js';
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
 * they are configured, then twice as fast as possible. After each, pg-boss with two workers that make the same calls under
 * the same load. At last what an idle scheduler costs.
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
  await runQueue({ databaseUrl, natsUrl, schedules }, deployed);
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
  const queue = async () => {
    const ended = new AbortController();
    const beside = load(ended.signal);
    const rate = await runQueue({ databaseUrl, natsUrl, schedules }, deployed);
    ended.abort();
    write(`pg-boss, two workers, batches of 100: ${Math.round(rate)}/s; API ${show(await beside)}`);
  };
  write(`dispatched as configured: ${await dispatch(due)}`);
  await queue();
  await Promise.all([system.process('scheduler').end(), other.end()]);
  const variables = { DATABASE_URL: databaseUrl, NATS_URL: natsUrl, HEALTH_PORT: '0' };
  const unbounded = { ...variables, SCHEDULE_PER_SECOND: '10000' };
  const start = () => resources.use('scheduler', startNode(builtProgram('scheduler'), unbounded));
  const [one] = await Promise.all([start(), start()].map(started));
  for (let round = 0; round < 2; round += 1) {
    write(`dispatched as fast as possible: ${await dispatch(await dueSoon(client))}`);
    await queue();
  }
  await measureIdle(one?.pid ?? 0, client, options);
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

/** Jobs a second: the same number of executions, on the same deployments, by two workers of pg-boss. */
async function runQueue(
  { databaseUrl, natsUrl, schedules }: { databaseUrl: string; natsUrl: string; schedules: number },
  { addresses, events }: ScheduledDeployments,
): Promise<number> {
  const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false });
  await boss.start();
  await boss.createQueue('ticks');
  const variables = { DATABASE_URL: databaseUrl, NATS_URL: natsUrl };
  await using one = startNode('bench/dist/schedules/queue-worker.js', variables);
  await using other = startNode('bench/dist/schedules/queue-worker.js', variables);
  await Promise.all([one, other].map((worker) => worker.waitFor(/ready/)));
  // As the scheduler takes them: neighbours are of different deployments.
  const jobs = events
    .flatMap((event) => addresses.map((deployment) => ({ name: 'ticks', data: { deployment, event } })))
    .slice(0, schedules);
  const startedAt = performance.now();
  await boss.insert(jobs);
  while ((await boss.getQueueSize('ticks', { before: 'completed' })) > 0) await wait(100);
  const seconds = (performance.now() - startedAt) / 1000;
  await boss.stop({ graceful: false });
  return schedules / seconds;
}
