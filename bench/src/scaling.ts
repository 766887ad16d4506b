import { setTimeout } from 'node:timers/promises';
import { Resources } from '@orrery/service-kit';
import { startNatsServer } from '@orrery/testing/servers';
import { type Fleet, type Member, startFleet } from '@orrery/testing/system';
import { runHttpLoad } from './load/http-load.js';
import { type Call, startOpenLoop } from './load/open-loop.js';
import { type MachineUse, watchMachine } from './measuring/machine.js';
import { measureInTurns } from './measuring/report.js';
import { type Given, runMeasurement } from './measuring/run-measurement.js';
import { createDatabase, startPostgres } from './systems/postgres.js';
import { setUpDeployments, TICK } from './systems/set-up.js';

const DEFAULTS = {
  rounds: 3,
  /** Of each measurement of the rate. */
  seconds: 5,
  connections: 64,
  deployments: 200,
};

const RUNTIMES = [1, 2, 3];
const UNLIMITED = { RATE_LIMITS: 'false' };
/** After a change of the runtimes: until their partitions are shared out again. */
const SHARED_OUT_MS = 8000;
/** How long the calls after each fault are counted: longer than a lease lives. */
const COUNTED_MS = 10_000;
/** The most called deployments of the open loop. */
const WATCHED = 16;
/** Its rate, per second. */
const RATE = 125;

/**
 * Executions a second with one, two and three runtimes, in turns; then, with two, what happens to 125 calls a second while one
 * is stopped in order, killed, frozen and added: how long a deployment had no owner, and which calls failed.
 */
async function runScaling(options: Given<typeof DEFAULTS>): Promise<void> {
  await using resources = new Resources({ releaseTimeoutMs: 20_000 });
  const { postgres } = await startPostgres(resources, { max_connections: '300' });
  const nats = resources.use('nats', await startNatsServer());
  const databaseUrl = await createDatabase(postgres.url, 'scaling');
  const backends = { databaseUrl, natsUrl: nats.url, each: 1 };
  const fleet = resources.use('fleet', await startFleet(backends, UNLIMITED));
  const paths = await setUpDeployments(fleet, { count: options.deployments });
  await measureRates(fleet, paths, options);
  await measureFaults(fleet, paths.slice(0, WATCHED), options);
}

async function measureRates(fleet: Fleet, paths: readonly string[], options: Given<typeof DEFAULTS>) {
  const { seconds, connections, write } = options;
  const [gateway] = fleet.of('gateway');
  const load = { url: `http://127.0.0.1:${gateway?.port}`, key: fleet.key, paths, connections };
  await runHttpLoad({ ...load, seconds: 2 * seconds });
  const runs = RUNTIMES.map((count) => ({
    name: `runtimes: ${count}`,
    measure: async () => {
      await haveRuntimes(fleet, count);
      await runHttpLoad({ ...load, seconds: 1 });
      const used = watchMachine();
      const rate = await runHttpLoad({ ...load, seconds });
      write(`processor time of an execution: ${timesText(used(), rate.perSecond * seconds)}`);
      return rate;
    },
  }));
  await measureInTurns(runs, options);
}

const timesText = ({ seconds }: MachineUse, executions: number): string =>
  Object.entries(seconds)
    .map(([program, taken]) => `${program} ${Math.round((taken / executions) * 1e6)} µs`)
    .join(', ');

async function haveRuntimes(fleet: Fleet, count: number): Promise<void> {
  while (fleet.of('runtime').length < count) await fleet.add('runtime');
  for (const member of fleet.of('runtime').slice(count)) await fleet.end(member);
  await setTimeout(SHARED_OUT_MS);
}

type Fault = readonly [name: string, cause: (member: Member) => Promise<unknown>];

async function measureFaults(fleet: Fleet, paths: readonly string[], { write }: Given<typeof DEFAULTS>) {
  const faults: Fault[] = [
    ['stopped with SIGTERM', (member) => fleet.end(member)],
    ['killed with SIGKILL', (member) => fleet.end(member, 'SIGKILL')],
    ['frozen with SIGSTOP', async ({ process: { pid } }) => process.kill(pid, 'SIGSTOP')],
    ['another one added', () => fleet.add('runtime')],
  ];
  await haveRuntimes(fleet, 2);
  for (const [name, cause] of faults) {
    const loop = startOpenLoop(fleet, paths, { body: TICK, perSecond: RATE });
    await setTimeout(2000);
    const at = performance.now();
    const [member] = fleet.of('runtime');
    if (member === undefined) throw new Error('no runtime is left');
    const caused = cause(member);
    await setTimeout(COUNTED_MS);
    await caused;
    write(`one of two runtimes ${name}: ${textOf(await loop.stop(), paths, at)}`);
    if (name.startsWith('frozen')) {
      process.kill(member.process.pid, 'SIGCONT');
      await fleet.end(member);
    }
    await haveRuntimes(fleet, 2);
  }
}

/** The outcome of the calls since a fault, and how long it took until each deployment had answered one of them. */
function textOf(all: readonly Call[], paths: readonly string[], at: number): string {
  const calls = all.filter(({ startedAt }) => startedAt >= at);
  const failed = calls.flatMap(({ failure }) => failure || []);
  const firstOf = (path: string) =>
    Math.min(...calls.filter((one) => one.path === path && one.failure === '').map(({ endedAt }) => endedAt));
  const answered = Math.round(Math.max(...paths.map(firstOf)) - at);
  const longest = Math.round(Math.max(...calls.map(({ startedAt, endedAt }) => endedAt - startedAt)));
  const why = failed.length > 0 ? ` (${[...new Set(failed)].join(', ')})` : '';
  return `${calls.length} calls, ${failed.length} failed${why}; every deployment answered after ${answered} ms, the longest call took ${longest} ms`;
}

await runMeasurement(DEFAULTS, runScaling);
