import { createServer } from 'node:http';
import { Resources } from '@orrery/service-kit';
import { listen, startNatsServer } from '@orrery/testing/servers';
import { startFiveProcesses } from '@orrery/testing/system';
import { runHttpLoad } from './load/http-load.js';
import { measureInTurns, type Run } from './measuring/report.js';
import { type Given, runMeasurement } from './measuring/run-measurement.js';
import { createDatabase, startPostgres, untilPublished } from './systems/postgres.js';
import { setUpDeployments } from './systems/set-up.js';

const DEFAULTS = {
  rounds: 5,
  seconds: 3,
  connections: 64,
  deployments: 200,
};

/** The share of the traces that is recorded; undefined: none, and no SDK is loaded. */
const SHARES = [
  ['off', undefined],
  ['1 %', '0.01'],
  ['100 %', '1'],
] as const;

/**
 * Executions a second of five processes without traces, with one in a hundred and with all of them, in turns on one
 * PostgreSQL server. A collector takes the traces and throws them away.
 */
async function runTraces(options: Given<typeof DEFAULTS>): Promise<void> {
  await using resources = new Resources({ releaseTimeoutMs: 20_000 });
  const { postgres } = await startPostgres(resources, { max_connections: '300' });
  const collector = await startCollector(resources);
  const runs: Run[] = [];
  for (const [name, share] of SHARES) {
    const variables = { RATE_LIMITS: 'false', ...(share !== undefined && tracesTo(collector.url, share)) };
    runs.push(await prepare(`traces: ${name}`, postgres.url, variables, resources, options));
  }
  await measureInTurns(runs, options);
  options.write(`the collector got ${Math.round(collector.bytes() / 1e6)} MB`);
}

const tracesTo = (url: string, share: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: share,
});

async function prepare(
  name: string,
  serverUrl: string,
  variables: Record<string, string>,
  resources: Resources,
  { connections, deployments, seconds }: Given<typeof DEFAULTS>,
): Promise<Run> {
  const nats = resources.use('nats', await startNatsServer());
  const databaseUrl = await createDatabase(serverUrl, name.replaceAll(/\W+/g, '_'));
  const backends = { databaseUrl, natsUrl: nats.url };
  const system = resources.use(name, await startFiveProcesses(backends, variables));
  const paths = await setUpDeployments(system, { count: deployments });
  const load = { url: system.url, key: system.key, connections, paths };
  await runHttpLoad({ ...load, seconds: 2 * seconds });
  const measure = async () => {
    const rate = await runHttpLoad({ ...load, seconds });
    await untilPublished(databaseUrl);
    return rate;
  };
  return { name, measure };
}

/** Takes what is sent to it over OTLP and counts it. */
async function startCollector(resources: Resources): Promise<{ url: string; bytes: () => number }> {
  let bytes = 0;
  const server = createServer((request, response) => {
    request.on('data', (part: Buffer) => {
      bytes += part.length;
    });
    request.on('end', () => response.writeHead(200).end());
  });
  const { url } = resources.use('collector', await listen(server));
  return { url, bytes: () => bytes };
}

await runMeasurement(DEFAULTS, runTraces);
