import { setTimeout } from 'node:timers/promises';
import { Resources } from '@orrery/service-kit';
import { startNatsServer } from '@orrery/testing/servers';
import { type Fleet, type Member, startFleet } from '@orrery/testing/system';
import { createDatabase } from '../create-database.js';
import { runHttpLoad } from '../http-load.js';
import { reportOf } from '../report.js';
import { setUpDeployments } from '../set-up-deployments.js';
import { startPostgres } from '../start-postgres.js';
import { type Calls, startOpenLoop } from './open-loop.js';
import { processorTime } from './processor-time.js';

export interface ScalingOptions {
  readonly rounds: number;
  /** Of each measurement of the rate. */
  readonly seconds: number;
  readonly connections: number;
  readonly deployments: number;
  readonly write: (line: string) => void;
}

const RUNTIMES = [1, 2, 3];
const SERVICES = ['gateway', 'catalog', 'runtime'] as const;
const UNLIMITED = { RATE_LIMITS: 'false' };
/** After a change of the runtimes: until their partitions are shared out again. */
const SHARED_OUT_MS = 8000;
/** What is looked at after each fault: longer than a lease lives. */
const LOOKED_AT_MS = 10_000;
/** The most called deployments of the open loop. */
const WATCHED = 16;

/**
 * Executions a second with one, two and three runtimes, in turns; then, with two, what happens to 125 calls a second while one
 * is stopped in order, killed, frozen and added: how long a deployment had no owner, and which calls failed.
 */
export async function runScaling(options: ScalingOptions): Promise<void> {
  await using resources = new Resources({ releaseTimeoutMs: 20_000 });
  const { postgres } = await startPostgres(resources, { max_connections: '300' });
  const nats = resources.use('nats', await startNatsServer());
  const databaseUrl = await createDatabase(postgres.url, 'scaling');
  const backends = { databaseUrl, natsUrl: nats.url, each: 1 };
  const fleet = resources.use('fleet', await startFleet(backends, UNLIMITED));
  const paths = await setUpDeployments(fleet, { count: options.deployments, isDraft: false });
  await measureRates({ fleet, pids: { PostgreSQL: postgres.pid, NATS: nats.pid } }, paths, options);
  await measureFaults(fleet, paths.slice(0, WATCHED), options);
}

interface Measured {
  readonly fleet: Fleet;
  /** Of the backends, by name. */
  readonly pids: Readonly<Record<string, number>>;
}

async function measureRates(measured: Measured, paths: readonly string[], options: ScalingOptions) {
  const { fleet } = measured;
  const { rounds, seconds, connections, write } = options;
  const [gateway] = fleet.of('gateway');
  const load = { url: `http://127.0.0.1:${gateway?.port}`, key: fleet.key, paths, connections };
  const measurements = RUNTIMES.map((count) => ({ name: `runtimes: ${count}`, values: [] as number[] }));
  await runHttpLoad({ ...load, seconds: 2 * seconds });
  for (let round = 1; round <= rounds; round += 1)
    for (const [place, count] of RUNTIMES.entries()) {
      await haveRuntimes(fleet, count);
      await runHttpLoad({ ...load, seconds: 1 });
      const before = timesOf(measured);
      const rate = await runHttpLoad({ ...load, seconds });
      measurements[place]?.values.push(rate);
      write(
        `runtimes: ${count}, processor time of an execution: ${timesText(before, measured, rate * seconds)}`,
      );
    }
  write(reportOf(measurements));
}

/** Seconds of processor time so far, by service and backend. */
const timesOf = ({ fleet, pids }: Measured): Map<string, number> =>
  new Map([
    ...SERVICES.map((service): [string, number] => [
      service,
      fleet.of(service).reduce((sum, { process }) => sum + processorTime(process.pid), 0),
    ]),
    ...Object.entries(pids).map(([name, pid]): [string, number] => [name, processorTime(pid)]),
  ]);

const timesText = (before: ReadonlyMap<string, number>, measured: Measured, executions: number): string =>
  [...timesOf(measured)]
    .map(
      ([name, seconds]) =>
        `${name} ${Math.round(((seconds - (before.get(name) ?? 0)) / executions) * 1e6)} µs`,
    )
    .join(', ');

async function haveRuntimes(fleet: Fleet, count: number): Promise<void> {
  while (fleet.of('runtime').length < count) await fleet.add('runtime');
  for (const member of fleet.of('runtime').slice(count)) await fleet.end(member);
  await setTimeout(SHARED_OUT_MS);
}

type Fault = readonly [name: string, cause: (member: Member) => Promise<unknown>];

async function measureFaults(fleet: Fleet, paths: readonly string[], { write }: ScalingOptions) {
  const faults: Fault[] = [
    ['stopped with SIGTERM', (member) => fleet.end(member)],
    ['killed with SIGKILL', (member) => fleet.end(member, 'SIGKILL')],
    ['frozen with SIGSTOP', async ({ process: { pid } }) => process.kill(pid, 'SIGSTOP')],
    ['another one added', () => fleet.add('runtime')],
  ];
  await haveRuntimes(fleet, 2);
  for (const [name, cause] of faults) {
    const loop = startOpenLoop(fleet, paths);
    await setTimeout(2000);
    const at = performance.now();
    const [member] = fleet.of('runtime');
    if (member === undefined) throw new Error('no runtime is left');
    const caused = cause(member);
    await setTimeout(LOOKED_AT_MS);
    await caused;
    write(`one of two runtimes ${name}: ${textOf(await loop.stop(at))}`);
    if (name.startsWith('frozen')) {
      process.kill(member.process.pid, 'SIGCONT');
      await fleet.end(member);
    }
    await haveRuntimes(fleet, 2);
  }
}

const textOf = ({ calls, failed, withoutOwnerMs, longestMs }: Calls): string =>
  `${calls} calls, ${failed.length} failed${failed.length > 0 ? ` (${[...new Set(failed)].join(', ')})` : ''}; ` +
  `every deployment answered after ${Math.round(withoutOwnerMs)} ms, the longest call took ${Math.round(longestMs)} ms`;
