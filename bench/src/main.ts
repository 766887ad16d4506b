import { join } from 'node:path';
import { Resources } from '@orrery/service-kit';
import { startNatsServer } from '@orrery/testing/servers';
import { type System, startAllInOne, startFiveProcesses } from '@orrery/testing/system';
import { type HttpLoad, runFileLoad, runHttpLoad } from './load/http-load.js';
import { preparePgbench, runPgbench } from './load/pgbench.js';
import { SignedRequests } from './load/signed-requests.js';
import { measureInTurns, type Run } from './measuring/report.js';
import { runMeasurement } from './measuring/run-measurement.js';
import { createDatabase, startPostgres, untilPublished } from './systems/postgres.js';
import { addressIn, instancePath, setUpDeployments } from './systems/set-up.js';

interface ComparisonOptions {
  readonly rounds: number;
  /** Of each measurement. */
  readonly seconds: number;
  /** Of load on each system before the first round: a process is judged as it runs, not as it starts. */
  readonly warmUp: number;
  readonly connections: number;
  readonly deployments: number;
  /** Executions of an unlocked version instead of a locked one. */
  readonly draft: boolean;
  readonly write: (line: string) => void;
}

/** The limiter works as ever; it just never says no. */
const WIDE_LIMITS = {
  RATE_KEY_PER_SECOND: '1000000',
  RATE_KEY_BURST: '1000000',
  RATE_APP_ADDRESS_PER_MINUTE: '1000000',
  RATE_APP_WALLET_PER_MINUTE: '1000000',
  MESSAGE_MAX_AGE_S: '86400',
};

/**
 * Executions a second through HTTP, spread and on one instance, and reads of instances, in both shapes, interleaved in rounds with pgbench
 * writing the same rows one transaction each on the same server with default durability.
 */
async function runComparison(options: ComparisonOptions): Promise<void> {
  await using resources = new Resources();
  const { folder, postgres } = await startPostgres(resources);
  const systems = await startSystems(postgres.url, folder, resources);
  const runs = [await pgbenchRun(systems, options)];
  for (const system of systems) {
    const version = options.draft ? 'draft' : 'locked version';
    options.write(
      `${system.shape}: ${options.deployments} deployments, ${version}, ${options.warmUp} s of warm-up`,
    );
    runs.push(...(await systemRuns(system, folder, options)));
  }
  // How long each is at work after its last answer says what it put off.
  const rest = async () => {
    const seconds = await Promise.all(systems.map(({ databaseUrl }) => untilPublished(databaseUrl)));
    return `, at rest after ${Math.max(...seconds).toFixed(1)} s`;
  };
  await measureInTurns(runs, { ...options, rest });
}

/** Each on a database of its own; only one of them works at a time. */
async function startSystems(serverUrl: string, logFolder: string, resources: Resources): Promise<System[]> {
  const nats = resources.use('nats', await startNatsServer());
  const natsUrl = nats.url;
  const five = { databaseUrl: await createDatabase(serverUrl, 'five'), natsUrl, logFolder };
  const one = await createDatabase(serverUrl, 'one');
  return [
    resources.use('five processes', await startFiveProcesses(five, WIDE_LIMITS)),
    resources.use('all-in-one', await startAllInOne(one, WIDE_LIMITS)),
  ];
}

async function pgbenchRun([system]: System[], options: ComparisonOptions): Promise<Run> {
  const databaseUrl = system?.databaseUrl ?? '';
  await preparePgbench(databaseUrl, options.deployments);
  const bench = { databaseUrl, seconds: options.seconds, rows: options.deployments };
  return { name: 'pgbench, 16 clients, three statements', measure: () => runPgbench(bench) };
}

/** Requests are signed for this rate; a run that is faster fails. */
const PUBLIC_PER_SECOND = 6000;

async function systemRuns(system: System, folder: string, options: ComparisonOptions): Promise<Run[]> {
  const { connections, seconds, draft: isDraft } = options;
  const targets = await setUpDeployments(system, { count: options.deployments, isDraft });
  const load: Omit<HttpLoad, 'paths'> = { url: system.url, key: system.key, connections, seconds };
  const signed = new SignedRequests();
  const publicly = async (lasting: number) => {
    const file = join(folder, 'signed-requests');
    await signed.write(file, lasting * PUBLIC_PER_SECOND, targets.map(addressIn));
    return runFileLoad({ url: system.url, connections, seconds: lasting, file });
  };
  await runHttpLoad({ ...load, paths: targets, seconds: options.warmUp });
  await publicly(Math.ceil(options.warmUp / 3));
  return [
    { name: `${system.shape}, spread`, measure: () => runHttpLoad({ ...load, paths: targets }) },
    { name: `${system.shape}, public, spread`, measure: () => publicly(seconds) },
    {
      name: `${system.shape}, one instance`,
      measure: () => runHttpLoad({ ...load, paths: targets.slice(0, 1) }),
    },
    {
      name: `${system.shape}, reads of an instance`,
      measure: () => runHttpLoad({ ...load, method: 'GET', paths: targets.map(instancePath) }),
    },
  ];
}

await runMeasurement(
  { rounds: 3, seconds: 10, 'warm-up': 15, connections: 64, deployments: 1000, draft: false },
  ({ 'warm-up': warmUp, ...given }) => runComparison({ ...given, warmUp }),
);
