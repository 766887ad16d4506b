import { setTimeout as wait } from 'node:timers/promises';
import { Resources } from '@orrery/service-kit';
import { startNatsServer } from '@orrery/testing/servers';
import { startFiveProcesses } from '@orrery/testing/system';
import { runHttpLoad } from './load/http-load.js';
import { startOpenLoop } from './load/open-loop.js';
import { holdStreams } from './load/streams.js';
import { measureInTurns, quantile, type Rate } from './measuring/report.js';
import { type Given, runMeasurement } from './measuring/run-measurement.js';
import { startPostgres } from './systems/postgres.js';
import { addressIn, setUpDeployments, setUpLeaderboard, TICK } from './systems/set-up.js';

const DEFAULTS = {
  rounds: 3,
  /** Of load in each measurement. */
  seconds: 15,
  /** Executions a second, all in the deployment that the streams follow. */
  'per-second': 50,
  /** Of strangers, open at once. */
  streams: 1000,
  /** Players on the leaderboard. */
  instances: 100_000,
  /** Clients that each ask for its first page again and again. */
  clients: 8,
};

const NO_RATES = {
  RATE_LIMITS: 'false',
  MAX_STREAMS_PER_ADDRESS: '100000',
  MAX_STREAMS_PER_DEPLOYMENT: '100000',
};
/** For connections to be made, before executions are measured beside them. */
const LEAD_MS = 3000;

/** What executions notice of strangers' open streams, and of clients that query a large leaderboard, in turns. */
async function runReaders(options: Given<typeof DEFAULTS>): Promise<void> {
  const { rounds, seconds, 'per-second': perSecond, streams, instances, clients, write } = options;
  await using resources = new Resources();
  const { folder, postgres } = await startPostgres(resources);
  const { url: natsUrl } = resources.use('nats', await startNatsServer());
  const backends = { databaseUrl: postgres.url, natsUrl, logFolder: folder };
  const system = resources.use('system', await startFiveProcesses(backends, NO_RATES));
  const { url, key } = system;
  const [path = ''] = await setUpDeployments(system, { count: 1 });
  const board = await setUpLeaderboard(system, instances);
  const execute = async (): Promise<Rate> => {
    const load = startOpenLoop(system, [path], { body: TICK, perSecond });
    await wait(seconds * 1000);
    const calls = await load.stop();
    const failed = calls.find(({ failure }) => failure !== '');
    if (failed) throw new Error(`POST ${failed.path} was answered ${failed.failure}`);
    const times = calls.map(({ startedAt, endedAt }) => endedAt - startedAt);
    const [p50Ms, p99Ms] = [quantile(times, 0.5), quantile(times, 0.99)];
    return { perSecond: calls.length / seconds, count: calls.length, p50Ms, p99Ms };
  };
  const beside = async (load: Promise<unknown>): Promise<Rate> => {
    await wait(LEAD_MS);
    const [rate] = await Promise.all([execute(), load]);
    return rate;
  };
  const ask = (connections: number, lasting: number) =>
    runHttpLoad({ url, key, method: 'GET', paths: [firstPage(board)], connections, seconds: lasting });
  const all = seconds + LEAD_MS / 1000 + 1;
  const stream = `/app/deployments/${addressIn(path)}/stream`;
  await measureInTurns(
    [
      { name: 'executions', measure: execute },
      {
        name: `beside ${streams} streams`,
        measure: () => beside(holdStreams({ url, path: stream, streams, seconds: all })),
      },
      { name: `beside ${clients} clients that query`, measure: () => beside(ask(clients, all)) },
      { name: 'first page of the leaderboard, one client', measure: () => ask(1, seconds) },
    ],
    { rounds, write },
  );
}

/** Of the players, the best first. */
const firstPage = (deployment: string): string =>
  `${deployment}/entity-instances?entitySchema=player&limit=20&orderBy=${encodeURIComponent('score desc')}`;

await runMeasurement(DEFAULTS, runReaders);
