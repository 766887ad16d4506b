import { join } from 'node:path';
import { Resources } from '@orrery/service-kit';
import { startNatsServer } from '@orrery/testing/servers';
import { type System, startAllInOne, startFiveProcesses } from '@orrery/testing/system';
import { comeToRest } from './come-to-rest.js';
import { createDatabase } from './create-database.js';
import { type HttpLoad, runFileLoad, runHttpLoad } from './http-load.js';
import { preparePgbench, runPgbench } from './pgbench.js';
import { type Measurement, reportOf } from './report.js';
import { addressIn, instancePath, setUpDeployments } from './set-up-deployments.js';
import { SignedRequests } from './signed-requests.js';
import { startPostgres } from './start-postgres.js';

export interface ComparisonOptions {
  readonly rounds: number;
  /** Of each measurement. */
  readonly seconds: number;
  /** Of load on each system before the first round: a process is judged as it runs, not as it starts. */
  readonly warmUpSeconds: number;
  readonly connections: number;
  readonly deployments: number;
  /** Executions of an unlocked version instead of a locked one. */
  readonly isDraft: boolean;
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

type Run = { name: string; measure: () => Promise<number> };

/**
 * Executions a second through HTTP, spread and on one instance, and reads of instances, in both shapes, interleaved in rounds with pgbench
 * writing the same rows one transaction each on the same server with default durability. Medians and ratios are told.
 */
export async function runComparison(options: ComparisonOptions): Promise<void> {
  await using resources = new Resources();
  const { folder, postgres } = await startPostgres(resources);
  const systems = await startSystems(postgres.url, folder, resources);
  const runs = [await pgbenchRun(systems, options)];
  for (const system of systems) {
    const version = options.isDraft ? 'draft' : 'locked version';
    options.write(
      `${system.shape}: ${options.deployments} deployments, ${version}, ${options.warmUpSeconds} s of warm-up`,
    );
    runs.push(...(await systemRuns(system, folder, options)));
  }
  options.write(`\n${reportOf(await measureInTurns(runs, systems, options))}`);
}

/** Each measurement begins when all systems are at rest; how long that took says what was put off. */
async function measureInTurns(
  runs: readonly Run[],
  systems: readonly System[],
  { rounds, write }: ComparisonOptions,
): Promise<Measurement[]> {
  const rest = async () => Math.max(...(await Promise.all(systems.map(comeToRest))));
  const measurements: Measurement[] = runs.map(({ name }) => ({ name, values: [] }));
  await rest();
  for (let round = 1; round <= rounds; round += 1) {
    for (const [index, { name, measure }] of runs.entries()) {
      const value = await measure();
      measurements[index]?.values.push(value);
      write(`round ${round}  ${name}: ${Math.round(value)}/s, at rest after ${(await rest()).toFixed(1)} s`);
    }
  }
  return measurements;
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
  const { connections, seconds, isDraft } = options;
  const targets = await setUpDeployments(system, { count: options.deployments, isDraft });
  const load: Omit<HttpLoad, 'paths'> = { url: system.url, key: system.key, connections, seconds };
  const signed = new SignedRequests();
  const publicly = async (lasting: number) => {
    const file = join(folder, 'signed-requests');
    await signed.write(file, lasting * PUBLIC_PER_SECOND, targets.map(addressIn));
    return runFileLoad({ url: system.url, connections, seconds: lasting, file });
  };
  await runHttpLoad({ ...load, paths: targets, seconds: options.warmUpSeconds });
  await publicly(Math.ceil(options.warmUpSeconds / 3));
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
