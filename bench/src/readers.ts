import { setTimeout as wait } from 'node:timers/promises';
import { Resources } from '@orrery/service-kit';
import { startNatsServer } from '@orrery/testing/servers';
import { startFiveProcesses } from '@orrery/testing/system';
import { runHttpLoad } from './load/http-load.js';
import { startOpenLoop } from './load/open-loop.js';
import { holdStreams } from './load/streams.js';
import { measureInTurns, quantile, type Rate } from './measuring/report.js';
import { type Given, runMeasurement } from './measuring/run-measurement.js';
import { startPostgres, untilTrue } from './systems/postgres.js';
import { addressIn, POINTS, setUpDeployments, setUpLeaderboard, TICK } from './systems/set-up.js';

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
/** Of executions that change what is indexed, at once. */
const CALLERS = 64;
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
  const board = await setUpLeaderboard(system, instances, { indexed: false });
  const indexed = await setUpLeaderboard(system, instances, { indexed: true });
  await untilTrue(
    postgres.url,
    "exists (select from runtime.attribute_indexes where state = 'complete')",
    LEAD_MS,
  );
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
  const ask = (at: string, connections: number, lasting: number) =>
    runHttpLoad({ url, key, method: 'GET', paths: [firstPage(at)], connections, seconds: lasting });
  const score = (at: string) =>
    runHttpLoad({ url, key, paths: [`${at}/execute`], bodies: POINTS, connections: CALLERS, seconds });
  const all = seconds + LEAD_MS / 1000 + 1;
  const stream = `/app/deployments/${addressIn(path)}/stream`;
  await measureInTurns(
    [
      { name: 'executions', measure: execute },
      {
        name: `beside ${streams} streams`,
        measure: () => beside(holdStreams({ url, path: stream, streams, seconds: all })),
      },
      { name: `beside ${clients} clients that query`, measure: () => beside(ask(board, clients, all)) },
      { name: 'first page of the leaderboard, one client', measure: () => ask(board, 1, seconds) },
      {
        name: `beside ${clients} clients that query an index`,
        measure: () => beside(ask(indexed, clients, all)),
      },
      { name: 'first page by an index, one client', measure: () => ask(indexed, 1, seconds) },
      { name: `executions that change a score, ${CALLERS} callers`, measure: () => score(board) },
      { name: 'the same where the score is indexed', measure: () => score(indexed) },
    ],
    { rounds, write },
  );
}

/** Of the players, the best first. */
const firstPage = (deployment: string): string =>
  `${deployment}/entity-instances?entitySchema=player&limit=20&orderBy=${encodeURIComponent('score desc')}`;

await runMeasurement(DEFAULTS, runReaders);
