import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Resources } from '@orrery/service-kit';
import { query, startNatsServer } from '@orrery/testing/servers';
import { type FiveProcesses, SERVICES, type System, startFiveProcesses } from '@orrery/testing/system';
import { runFileLoad, runHttpLoad } from './load/http-load.js';
import { SignedRequests } from './load/signed-requests.js';
import { heldMemory, reportingMemory } from './measuring/held-memory.js';
import { memoryByProgram } from './measuring/machine.js';
import { quantile } from './measuring/report.js';
import { isReached, machine, VERDICTS_HEAD, type Verdict, verdictRow } from './measuring/results.js';
import { runMeasurement } from './measuring/run-measurement.js';
import { startPostgres } from './systems/postgres.js';
import { addressIn, instancePath, poster, setUpDeployments, TICK } from './systems/set-up.js';

interface SoakOptions {
  readonly minutes: number;
  /** Of one minute, in seconds; less for a trial of the program itself. */
  readonly minute: number;
  readonly deployments: number;
  /** Entries of the two histories that are compared. */
  readonly short: number;
  readonly long: number;
  /** Requests of each kind to each history. */
  readonly requests: number;
  readonly write: (line: string) => void;
}

const FILE = fileURLToPath(new URL('../soak.md', import.meta.url));
const CONNECTIONS = { executions: 48, publicly: 8, reads: 8 };
/** Public executions are signed beforehand, for this rate. */
const PUBLIC_PER_SECOND = 1500;
const SAMPLE_MS = 5000;

/**
 * A mixed load on five processes for some minutes: does the memory of any process grow, does the rate fall? And whether a
 * long history is read as fast as a short one. Writes `bench/soak.md`; the process fails when a verdict does.
 */
async function runSoak(options: SoakOptions): Promise<void> {
  const { write, deployments } = options;
  await using resources = new Resources();
  const { folder, postgres } = await startPostgres(resources, { max_connections: '300' });
  const { url: natsUrl } = resources.use('nats', await startNatsServer());
  const backends = { databaseUrl: postgres.url, natsUrl, logFolder: folder };
  const reports = join(folder, 'memory');
  const system = resources.use(
    'system',
    await startFiveProcesses(backends, {
      RATE_LIMITS: 'false',
      // Full within the first minute: until then the server's index of what it stores grows.
      NATS_MAX_MIB: '64',
      // Millions of lines of access would fill the disk.
      MESSAGE_MAX_AGE_S: '86400',
      LOG_LEVEL: 'warn',
      ...(await reportingMemory(reports)),
    }),
  );
  const targets = await setUpDeployments(system, { count: deployments + 2 });
  const [short = '', long = '', ...loaded] = targets;
  const lists = await compareHistories(system, postgres.url, { short, long }, options);
  const load = await loadForMinutes(system, { folder, reports }, loaded, options);
  const verdicts = [...lists, ...load];
  const lines = verdicts.map(verdictRow);
  for (const line of lines) write(line);
  const head = `${new Date().toISOString().slice(0, 10)}, ${machine()}, ${options.minutes} minutes of ${options.minute} s.`;
  const page = ['# Results of `npm run soak`', '', head, '', ...VERDICTS_HEAD, ...lines, ''];
  await writeFile(FILE, page.join('\n'));
  if (!verdicts.every(isReached)) process.exitCode = 1;
}

/** Entries and changes of the rare event and instance in each history. */
const RARE = 50;

/** What is read of both histories, behind the path of the history. */
const LISTS: Readonly<Record<string, (entries: number) => string>> = {
  'page 1': () => '?limit=50',
  after: (entries) => `?limit=50&after=${Math.floor(entries / 2)}`,
  'a frequent event': () => '?limit=50&event=tick',
  'a rare event': () => '?limit=50&event=rare',
  'a frequent instance': () => '?limit=50&instance=counter:one',
  'a rare instance': () => '?limit=50&instance=counter:rare',
};

/** The long history's median ÷ the short one's, for each kind of list. */
async function compareHistories(
  system: System,
  databaseUrl: string,
  paths: { readonly short: string; readonly long: string },
  { short, long, requests, write }: SoakOptions,
): Promise<Verdict[]> {
  const entries = { short, long };
  for (const which of ['short', 'long'] as const) {
    await poster(system)(paths[which].replace('/api', ''), TICK);
    write(`a history of ${entries[which]} entries is written`);
    await fillHistory(databaseUrl, addressIn(paths[which]), entries[which]);
  }
  await query(databaseUrl, 'vacuum (analyze) runtime.journal, runtime.instance_changes');
  const verdicts: Verdict[] = [];
  for (const [what, searchOf] of Object.entries(LISTS)) {
    const times = { short: [] as number[], long: [] as number[] };
    for (let round = 0; round < requests; round += 1)
      for (const which of ['short', 'long'] as const) {
        const path = paths[which].replace(/execute$/, `history${searchOf(entries[which])}`);
        times[which].push(await timed(system, path));
      }
    const [one, other] = [quantile(times.short, 0.5), quantile(times.long, 0.5)];
    write(`${what}: ${one.toFixed(1)} ms of ${short} entries, ${other.toFixed(1)} ms of ${long}`);
    verdicts.push({ what: `history, ${what}: ${long} ÷ ${short} entries`, value: other / one, atMost: 1.5 });
  }
  return verdicts;
}

async function timed({ url, key }: System, path: string): Promise<number> {
  const began = performance.now();
  const answer = await fetch(url + path, { headers: { authorization: `Bearer ${key}` } });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`GET ${path} was answered ${answer.status}: ${text}`);
  return performance.now() - began;
}

/** Repeats a deployment's last entry until there are so many. Hashes are repeated, too: only lists are read. */
async function fillHistory(databaseUrl: string, address: string, entries: number): Promise<void> {
  const columns = await query<{ name: string }>(
    databaseUrl,
    `select column_name as name from information_schema.columns where table_schema = 'runtime' and table_name = 'journal'`,
  );
  const isRare = `n % ${Math.max(1, Math.floor(entries / RARE))} = 0`;
  const values: Readonly<Record<string, string>> = {
    seq: 'n',
    id: 'uuidv7()',
    event: `case when ${isRare} then 'rare' else j.event end`,
  };
  const names = columns.map(({ name }) => name);
  await query(
    databaseUrl,
    `with last as (
       select h.deployment_id, h.seq from runtime.journal_heads h join runtime.deployments d on d.id = h.deployment_id
       where d.address = '${address}'
     ), entry as (
       insert into runtime.journal (${names.join(', ')})
       select ${names.map((name) => values[name] ?? `j.${name}`).join(', ')}
       from last l join runtime.journal j on j.deployment_id = l.deployment_id and j.seq = l.seq,
         generate_series(l.seq + 1, ${entries}) n
     ), change as (
       insert into runtime.instance_changes (deployment_id, entity_schema, instance_id, seq)
       select deployment_id, 'counter', case when ${isRare} then 'rare' else 'one' end, n
       from last, generate_series(seq + 1, ${entries}) n
     )
     update runtime.journal_heads h
     set seq = ${entries}, published = ${entries},
       totals = h.totals || jsonb_build_object('entries', ${entries}, 'admin_succeeded', ${entries} - h.seq + 1)
     from last l where h.deployment_id = l.deployment_id`,
  );
}

async function loadForMinutes(
  system: FiveProcesses,
  { folder, reports }: { readonly folder: string; readonly reports: string },
  paths: readonly string[],
  { minutes, minute, write }: SoakOptions,
): Promise<Verdict[]> {
  const signed = new SignedRequests();
  const rates: number[] = [];
  const memory: Record<string, number>[] = [];
  for (let at = 1; at <= minutes; at += 1) {
    const file = `${folder}/signed`;
    await signed.write(file, minute * PUBLIC_PER_SECOND, {
      url: system.url,
      deployments: paths.map(addressIn),
    });
    const sampling = sampleMemory(minute * 1000);
    const common = { url: system.url, seconds: minute };
    const [executions, publicly, reads] = await Promise.all([
      runHttpLoad({ ...common, key: system.key, connections: CONNECTIONS.executions, paths }),
      runFileLoad({ ...common, connections: CONNECTIONS.publicly, file }),
      runHttpLoad({
        ...{ ...common, key: system.key, connections: CONNECTIONS.reads, method: 'GET' },
        paths: paths.map(instancePath),
      }),
    ]);
    rates.push(executions.perSecond + publicly.perSecond);
    memory.push({ ...(await sampling), ...(await heldByService(system, reports)) });
    const told = [executions, publicly, reads].map(({ perSecond }) => Math.round(perSecond)).join(', ');
    const sizes = Object.entries(memory.at(-1) ?? {}).map(
      ([name, bytes]) => `${name} ${Math.round(bytes / 2 ** 20)}`,
    );
    write(`minute ${at}: ${told} executions, public executions and reads a second; MiB: ${sizes.join(', ')}`);
  }
  const [, second = {}] = memory;
  const last = memory.at(-1) ?? {};
  return [
    {
      what: 'rate of the last minute ÷ the first',
      value: (rates.at(-1) ?? 0) / (rates[0] ?? 0),
      atLeast: 0.9,
    },
    ...Object.entries(second).map(([program, bytes]) => ({
      what: `memory of ${program}: last minute ÷ second`,
      value: (last[program] ?? 0) / bytes,
      atMost: 1.05,
    })),
  ];
}

/** What each service holds, in bytes. */
async function heldByService(system: FiveProcesses, reports: string): Promise<Record<string, number>> {
  const held: Record<string, number> = {};
  for (const name of SERVICES) held[name] = await heldMemory(system.process(name), reports);
  return held;
}

/** The median of the memory of each program of another make over a while, in bytes. */
async function sampleMemory(ms: number): Promise<Record<string, number>> {
  const samples: Record<string, number>[] = [];
  for (const until = performance.now() + ms; performance.now() < until; ) {
    samples.push(memoryByProgram());
    // A load of another process is sampled: there is no event to wait for.
    await setTimeout(Math.min(SAMPLE_MS, ms / 4));
  }
  const programs = Object.keys(samples[0] ?? {});
  return Object.fromEntries(
    programs.map((name) => [
      name,
      quantile(
        samples.map((sample) => sample[name] ?? 0),
        0.5,
      ),
    ]),
  );
}

await runMeasurement(
  { minutes: 10, minute: 60, deployments: 1000, short: 5000, long: 5_000_000, requests: 100 },
  runSoak,
);
