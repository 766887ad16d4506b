import { join } from 'node:path';
import { Resources } from '@orrery/service-kit';
import { startNatsServer } from '@orrery/testing/servers';
import { type System, startAllInOne, startFiveProcesses } from '@orrery/testing/system';
import { type HttpLoad, runFileLoad, runHttpLoad } from './load/http-load.js';
import { oneStatement, preparePgbench, runPgbench, threeStatements } from './load/pgbench.js';
import { SignedRequests } from './load/signed-requests.js';
import { measureInTurns, type Run } from './measuring/report.js';
import { writeResults } from './measuring/results.js';
import { runMeasurement } from './measuring/run-measurement.js';
import { Peers } from './systems/peers.js';
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
  /** Other systems, too; they are installed from the npm registry. */
  readonly peers: boolean;
  readonly write: (line: string) => void;
}

/** What the runs are made with. */
interface Parts extends ComparisonOptions {
  /** Says what cannot run here, and why; there are no runs of it then. */
  readonly leaveOut: (what: string) => (reason: unknown) => never[];
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
 * Executions through HTTP in both shapes, spread over deployments and on one instance, of owners and of wallets, and reads,
 * in turns with pgbench, which writes the same on the same server with default durability, and with other systems of the
 * kind. Writes `bench/results.md`.
 */
async function runComparison(given: ComparisonOptions): Promise<void> {
  const leftOut: string[] = [];
  const leaveOut = (what: string) => (reason: unknown) => {
    const [word = ''] = (reason instanceof Error ? reason.message : String(reason)).split('\n');
    leftOut.push(`${what} (${word})`);
    given.write(`${leftOut.at(-1)} is left out`);
    return [];
  };
  const options: Parts = { ...given, leaveOut };
  await using resources = new Resources();
  const { folder, postgres } = await startPostgres(resources, { max_connections: '300' });
  const systems = await startSystems(postgres.url, folder, resources);
  const runs = await pgbenchRuns(postgres.url, options);
  for (const system of systems) {
    const version = options.draft ? 'draft' : 'locked version';
    options.write(
      `${system.shape}: ${options.deployments} deployments, ${version}, ${options.warmUp} s of warm-up`,
    );
    runs.push(...(await systemRuns(system, folder, options)));
  }
  if (options.peers) runs.push(...(await peerRuns(postgres.url, folder, resources, options)));
  // How long each is at work after its last answer says what it put off.
  const rest = async () => {
    const seconds = await Promise.all(systems.map(({ databaseUrl }) => untilPublished(databaseUrl)));
    return `, at rest after ${Math.max(...seconds).toFixed(1)} s`;
  };
  await writeResults(await measureInTurns(runs, { ...options, rest }), { ...options, leftOut });
}

/** Each on a database of its own; only one of them works at a time. */
async function startSystems(serverUrl: string, logFolder: string, resources: Resources): Promise<System[]> {
  const { url: natsUrl } = resources.use('nats', await startNatsServer());
  const five = { databaseUrl: await createDatabase(serverUrl, 'five'), natsUrl, logFolder };
  const one = await createDatabase(serverUrl, 'one');
  return [
    resources.use('five processes', await startFiveProcesses(five, WIDE_LIMITS)),
    resources.use('all-in-one', await startAllInOne(one, WIDE_LIMITS)),
  ];
}

async function pgbenchRuns(serverUrl: string, { seconds, deployments, leaveOut }: Parts): Promise<Run[]> {
  const databaseUrl = await createDatabase(serverUrl, 'pgbench');
  await preparePgbench(databaseUrl, deployments);
  const run = (name: string, clients: number, script: string): Run => ({
    name: `pgbench, ${name}`,
    measure: () => runPgbench({ databaseUrl, seconds, clients, script }),
  });
  const runs = [run('three statements', 16, threeStatements(deployments)), run('one row', 64, oneStatement)];
  return runPgbench({ databaseUrl, seconds: 1, clients: 1, script: oneStatement }).then(
    () => runs,
    leaveOut('pgbench'),
  );
}

/** Requests are signed for this rate; a run that is faster fails. */
const PUBLIC_PER_SECOND = 8000;
/** Connections of the load that shows what a system does with more of them. */
const MANY_CONNECTIONS = 256;

async function systemRuns(system: System, folder: string, options: ComparisonOptions): Promise<Run[]> {
  const { connections, seconds, draft: isDraft } = options;
  const targets = await setUpDeployments(system, { count: options.deployments, isDraft });
  const load: HttpLoad = { url: system.url, key: system.key, connections, seconds, paths: targets };
  const signed = new SignedRequests();
  const file = join(folder, 'signed-requests');
  const signedFor = { url: system.url, deployments: targets.map(addressIn) };
  const sign = (lasting: number) => signed.write(file, lasting * PUBLIC_PER_SECOND, signedFor);
  const publicly = (lasting: number) => runFileLoad({ url: system.url, connections, seconds: lasting, file });
  await runHttpLoad({ ...load, seconds: options.warmUp });
  await sign(options.warmUp);
  await publicly(Math.ceil(options.warmUp / 3));
  const run = (name: string, changes: Partial<HttpLoad>): Run => ({
    name: `${system.shape}, ${name}`,
    measure: () => runHttpLoad({ ...load, ...changes }),
  });
  return [
    run('spread', {}),
    run('one instance', { paths: targets.slice(0, 1) }),
    run('spread, many connections', { connections: MANY_CONNECTIONS }),
    {
      name: `${system.shape}, public`,
      prepare: () => sign(seconds),
      measure: () => publicly(seconds),
    },
    run('reads of an instance', { method: 'GET', paths: targets.map(instancePath) }),
  ];
}

async function peerRuns(
  serverUrl: string,
  folder: string,
  resources: Resources,
  { connections, deployments, seconds, leaveOut }: Parts,
): Promise<Run[]> {
  const peers = await Peers.install().catch(leaveOut('Restate and DBOS'));
  if (!(peers instanceof Peers)) return [];
  const keys = Array.from({ length: deployments }, (_, index) => `/counter/${index}/tick`);
  const restateRuns = async () => {
    const url = await peers.startRestate(join(folder, 'restate'), resources);
    const run = (name: string, paths: string[]): Run => ({
      name: `Restate, ${name}`,
      measure: () => runHttpLoad({ url, connections, seconds, paths, bodies: [{ by: 1 }] }),
    });
    const runs = [run('spread', keys), run('one key', keys.slice(0, 1))];
    await runs[0]?.measure();
    return runs;
  };
  const dbosRuns = async () => {
    const databaseUrl = await createDatabase(serverUrl, 'dbos');
    const measure = () => peers.measureDbos(databaseUrl, seconds, connections);
    await measure();
    return [{ name: 'DBOS, one step', measure }];
  };
  return [...(await restateRuns().catch(leaveOut('Restate'))), ...(await dbosRuns().catch(leaveOut('DBOS')))];
}

await runMeasurement(
  {
    rounds: 3,
    seconds: 8,
    'warm-up': 15,
    connections: 64,
    deployments: 1000,
    draft: false,
    'no-peers': false,
  },
  ({ 'warm-up': warmUp, 'no-peers': isWithoutPeers, ...given }) =>
    runComparison({ ...given, warmUp, peers: !isWithoutPeers }),
);
