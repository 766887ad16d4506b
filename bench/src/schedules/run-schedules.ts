import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startEmbeddedPostgres } from '@orrery/embedded-postgres';
import { Resources } from '@orrery/service-kit';
import { startNatsServer } from '@orrery/testing/servers';
import { type FiveProcesses, startFiveProcesses, startNode } from '@orrery/testing/system';
import { Client } from 'pg';
import PgBoss from 'pg-boss';
import { type ScheduledDeployments, setUpSchedules } from './set-up-schedules.js';
import { quantile, steadyLoad } from './steady-load.js';

export interface SchedulesOptions {
  /** Schedules that are due in the same minute. */
  readonly schedules: number;
  /** Schedules that are due much later, for the figure of an idle scheduler. */
  readonly idle: number;
  /** Executions a second by API callers, beside the schedules. */
  readonly apiPerSecond: number;
  /** Until the schedules are due, for setting them up, in seconds. */
  readonly leadSeconds: number;
  readonly write: (line: string) => void;
}

/**
 * How fast two schedulers dispatch schedules that are due in the same minute, how late, and what API callers notice;
 * pg-boss with two workers that make the same calls under the same load, right afterwards; and what an idle scheduler costs.
 */
export async function runSchedules(options: SchedulesOptions): Promise<void> {
  const { schedules, apiPerSecond, leadSeconds, write } = options;
  await using resources = new Resources();
  const folder = await mkdtemp(join(tmpdir(), 'orrery-bench-'));
  resources.add('folder', () => rm(folder, { recursive: true, force: true }));
  const dataDirectory = join(folder, 'postgres');
  const { url: databaseUrl } = resources.use('postgres', await startEmbeddedPostgres({ dataDirectory }));
  const { url: natsUrl } = resources.use('nats', await startNatsServer());
  const backends = { databaseUrl, natsUrl, logFolder: folder };
  const system = resources.use('system', await startFiveProcesses(backends, { RATE_LIMITS: 'false' }));
  system.add('scheduler');
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
  await wait(Math.max(0, due.getTime() - Date.now()));
  const ended = new AbortController();
  const during = load(ended.signal);
  await untilFired(client, schedules);
  ended.abort();
  const lateness = await latenessOf(client, due);
  write(
    `API p50 · p99: before ${show(before.p50, before.p99)}, during ${show((await during).p50, (await during).p99)}`,
  );
  write(
    `dispatched within ${(lateness.last / 1000).toFixed(1)} s, ${Math.round((schedules * 1000) / lateness.last)}/s; lateness p50 · p99 ${show(lateness.p50, lateness.p99)}`,
  );
  const queuing = new AbortController();
  const besideQueue = load(queuing.signal);
  const queued = await runQueue({ databaseUrl, natsUrl, schedules }, deployed);
  queuing.abort();
  const { p50, p99 } = await besideQueue;
  write(`pg-boss, two workers, batches of 100: ${Math.round(queued)}/s; API p50 · p99 ${show(p50, p99)}`);
  await measureIdle(system, client, options);
}

const show = (p50: number, p99: number) => `${Math.round(p50)} · ${Math.round(p99)} ms`;

async function until(client: Client, query: string, enough: number): Promise<void> {
  for (;;) {
    const { rows } = await client.query<{ n: number }>(query);
    if ((rows[0]?.n ?? 0) >= enough) return;
    await wait(200);
  }
}

const untilFollowed = (client: Client, count: number) =>
  until(client, 'select count(*)::int as n from scheduler.schedules where next_at is not null', count);
const untilFired = (client: Client, count: number) =>
  until(client, `select count(*)::int as n from scheduler.occurrences where status <> 'running'`, count);

/** From the due time to the outcome, in milliseconds. */
async function latenessOf(client: Client, due: Date) {
  const { rows } = await client.query<{ late: number }>(
    `select (extract(epoch from ended_at - $1) * 1000)::float as late from scheduler.occurrences
     where status = 'fired' and outcome = 'succeeded' order by 1`,
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

const IDLE_SECONDS = 30;
/** Of Linux, in which `/proc` counts. */
const TICKS_PER_SECOND = 100;

async function measureIdle(
  system: FiveProcesses,
  client: Client,
  { idle, write }: SchedulesOptions,
): Promise<void> {
  const { pid } = system.process('scheduler');
  const measure = async () => {
    const [from, fromStatements] = [await cpuTicks(pid), await statements(client)];
    await wait(IDLE_SECONDS * 1000);
    const percent = ((await cpuTicks(pid)) - from) / TICKS_PER_SECOND / IDLE_SECONDS;
    return `${(percent * 100).toFixed(2)} % of a core, ${Math.round((await statements(client)) - fromStatements)} transactions in ${IDLE_SECONDS} s`;
  };
  await wait(5000);
  write(`idle: ${await measure()}`);
  await client.query(
    `insert into scheduler.schedules (deployment, world_id, world_address, event, schedule, next_at, decided_until)
     select '0x' || lpad(to_hex(n), 40, '0'), 1, '', 'idle', '0 0 1 1 *', now() + interval '30 days', now()
     from generate_series(1, $1::int) n`,
    [idle],
  );
  await client.query('analyze scheduler.schedules');
  write(`idle with ${idle} schedules: ${await measure()}`);
}

/** Time of the processor that a process has used. */
async function cpuTicks(pid: number): Promise<number> {
  const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(') ')[1]?.split(' ') ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

/** Of all services. */
async function statements(client: Client): Promise<number> {
  const { rows } = await client.query<{ n: number }>(
    'select sum(xact_commit)::float as n from pg_stat_database where datname = current_database()',
  );
  return rows[0]?.n ?? 0;
}
