import { setTimeout as wait } from 'node:timers/promises';
import { Resources } from '@orrery/service-kit';
import { query, startNatsServer } from '@orrery/testing/servers';
import { startFiveProcesses } from '@orrery/testing/system';
import { startOpenLoop } from './load/open-loop.js';
import { watchMachine } from './measuring/machine.js';
import { quantile } from './measuring/report.js';
import { runMeasurement } from './measuring/run-measurement.js';
import { startPostgres, untilTrue } from './systems/postgres.js';
import { setUpDeployments, TICK } from './systems/set-up.js';

interface TimersOptions {
  /** Timers that are due in the same second. */
  readonly timers: number;
  /** Deployments that they are in. */
  readonly deployments: number;
  /** Executions a second by callers of other deployments, beside the timers. */
  readonly apiPerSecond: number;
  readonly rounds: number;
  readonly write: (line: string) => void;
}

const OTHERS = 50;
/** Until the timers are due, in milliseconds: they are pending then. */
const LEAD_MS = 5000;
const ASK_EVERY_MS = 100;

/**
 * How long the owner takes for timers that are due in the same second, how late they are, and what callers of other
 * deployments notice. The timers are inserted as a commit would have left them: setting them is not measured.
 */
async function runTimers(options: TimersOptions): Promise<void> {
  const { timers, deployments, apiPerSecond, rounds, write } = options;
  await using resources = new Resources();
  const { folder, postgres } = await startPostgres(resources);
  const { url: databaseUrl } = postgres;
  const { url: natsUrl } = resources.use('nats', await startNatsServer());
  const backends = { databaseUrl, natsUrl, logFolder: folder };
  const system = resources.use('system', await startFiveProcesses(backends, { RATE_LIMITS: 'false' }));
  const paths = await setUpDeployments(system, { count: deployments + OTHERS });
  const load = () => startOpenLoop(system, paths.slice(deployments), { body: TICK, perSecond: apiPerSecond });
  const before = load();
  await wait(5000);
  write(`callers p50 · p99 before: ${show(await latencies(before))}`);
  for (let round = 1; round <= rounds; round += 1) {
    // A process that has the deployments in memory counts their timers, so it reads them anew.
    await system.kill('runtime');
    const due = await insertTimers(databaseUrl, timers, deployments);
    system.restart('runtime');
    await untilTrue(
      databaseUrl,
      `not exists (select from runtime.partitions where expires_at is null or expires_at < now())`,
      ASK_EVERY_MS,
    );
    await wait(Math.max(0, due.getTime() - Date.now()));
    const [beside, used] = [load(), watchMachine()];
    await untilTrue(databaseUrl, '(select count(*) from runtime.timers) = 0', ASK_EVERY_MS);
    const { seconds } = used();
    const calls = await latencies(beside);
    const late = await lateness(databaseUrl, due);
    if (late.length !== timers) throw new Error(`${late.length} of ${timers} timers have an entry`);
    const last = quantile(late, 1);
    write(
      `round ${round}: ${timers} timers of ${deployments} deployments in ${(last / 1000).toFixed(1)} s, ` +
        `${Math.round((timers * 1000) / last)}/s; lateness p50 · p99 ${show(late)}; callers of others ${show(calls)}; ` +
        `CPU s: ${JSON.stringify(seconds)}`,
    );
  }
}

/** Due at one time, spread evenly. */
async function insertTimers(databaseUrl: string, timers: number, deployments: number): Promise<Date> {
  const due = new Date(Date.now() + LEAD_MS);
  await query(
    databaseUrl,
    `with chosen as (select id, row_number() over (order by id) - 1 as n from runtime.deployments order by id limit $2::int),
     inserted as (
       insert into runtime.timers (id, deployment_id, event, input, due_at, caller, set_seq, set_index, depth)
       select gen_random_uuid(), c.id, 'tick', '{"id": "one", "by": 1}', $3::timestamptz,
         '{"kind": "service", "service": "runtime"}', 1, i, 1
       from generate_series(0, $1::int - 1) i join chosen c on c.n = i % $2::int returning deployment_id
     ), counted as (select deployment_id, count(*) as timers from inserted group by 1),
     heads as (
       insert into runtime.timer_heads select deployment_id, deployment_id % 64, $3::timestamptz from counted
       on conflict (deployment_id) do update set next_due = excluded.next_due
     )
     update runtime.journal_heads h set totals = h.totals || jsonb_build_object('timers', c.timers)
     from counted c where c.deployment_id = h.deployment_id`,
    [timers, deployments, due],
  );
  return due;
}

/** Of the timers that were due at one time, in milliseconds. */
async function lateness(databaseUrl: string, due: Date): Promise<number[]> {
  const rows = await query<{ late: number }>(
    databaseUrl,
    `select (extract(epoch from executed_at - $1) * 1000)::float as late from runtime.journal
     where trigger = 'timer' and status = 'succeeded' and executed_at >= $1`,
    [due],
  );
  return rows.map(({ late }) => late);
}

async function latencies(load: ReturnType<typeof startOpenLoop>): Promise<number[]> {
  const calls = await load.stop();
  const failed = calls.find(({ failure }) => failure !== '');
  if (failed !== undefined) throw new Error(`POST ${failed.path} was answered ${failed.failure}`);
  return calls.map(({ startedAt, endedAt }) => endedAt - startedAt);
}

const show = (values: readonly number[]): string =>
  `${Math.round(quantile(values, 0.5))} · ${Math.round(quantile(values, 0.99))} ms`;

await runMeasurement(
  { timers: 10_000, deployments: 10, 'api-per-second': 50, rounds: 2 },
  ({ 'api-per-second': apiPerSecond, ...given }) => runTimers({ ...given, apiPerSecond }),
);
