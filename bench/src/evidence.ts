import { setTimeout as wait } from 'node:timers/promises';
import { Resources } from '@orrery/service-kit';
import { query, startNatsServer } from '@orrery/testing/servers';
import { type System, startFiveProcesses } from '@orrery/testing/system';
import { runHttpLoad } from './load/http-load.js';
import { type Medians, measureInTurns, type Rate } from './measuring/report.js';
import { isReached, VERDICTS_HEAD, type Verdict, verdictRow } from './measuring/results.js';
import { type Given, runMeasurement } from './measuring/run-measurement.js';
import { startPostgres, untilPublished } from './systems/postgres.js';
import { setUpDeployments } from './systems/set-up.js';

const DEFAULTS = {
  rounds: 5,
  /** Of load in each measurement. */
  seconds: 10,
  connections: 64,
  deployments: 20,
  /** Seconds between two looks of a witness; each deployment has one. */
  'witness-every': 10,
};

const SETTINGS = { RATE_LIMITS: 'false', ORRERY_SIGNING_KEY: `bench.example+${'5b'.repeat(32)}` };
/** What evidence may cost an execution, as a share of its processor time. */
const MOST_SHARE = 0.05;

/**
 * What the Merkle tree and its checkpoints cost an execution. A commit knows nothing of them: the tree is made afterwards, by
 * whoever needs it. So executions are measured while the table of the trees' heads is renamed, so that no process can make any;
 * then the making of their trees alone, what a witness asks, and executions with all of it.
 */
async function runEvidence(options: Given<typeof DEFAULTS>): Promise<void> {
  const { seconds, connections, write, rounds } = options;
  await using resources = new Resources();
  const { folder, postgres } = await startPostgres(resources);
  const { url: databaseUrl } = postgres;
  const { url: natsUrl } = resources.use('nats', await startNatsServer());
  const backends = { databaseUrl, natsUrl, logFolder: folder };
  const system = resources.use('system', await startFiveProcesses(backends, SETTINGS));
  const paths = await setUpDeployments(system, { count: options.deployments });
  const load = { url: system.url, key: system.key, connections, seconds };
  const execute = () => runHttpLoad({ ...load, paths });
  const ask = (wanted: readonly string[]) => runHttpLoad({ ...load, method: 'GET', paths: wanted });
  const heads = paths.map((path) => path.replace(/execute$/, 'head'));
  const trees = treesIn(databaseUrl);
  const grow = () => growTrees(system, heads, trees);
  // Connections, plans, and a journal to prove.
  await execute();
  const { sizes } = await grow();
  const proofs = heads.map((head, at) => {
    const size = sizes[at] ?? 1;
    return head.replace(/head$/, `consistency?from=${Math.ceil(size / 2)}&to=${size}`);
  });
  const medians = await measureInTurns(
    [
      { name: NAMES.without, prepare: trees.putAway, measure: execute },
      { name: NAMES.trees, prepare: trees.bringBack, measure: grow },
      { name: NAMES.checkpoint, measure: () => ask(heads) },
      { name: NAMES.proof, measure: () => ask(proofs) },
      {
        name: NAMES.with,
        measure: async () => {
          await using _ = witnesses(system, [...heads, ...proofs], options['witness-every']);
          const rate = await execute();
          await grow();
          return rate;
        },
      },
    ],
    {
      rounds,
      write,
      rest: async () => {
        await untilPublished(databaseUrl);
        return '';
      },
    },
  );
  tell(medians, options);
}

const NAMES = {
  without: 'executions without trees',
  trees: 'entries into their trees, alone',
  checkpoint: 'checkpoints',
  proof: 'consistency proofs',
  with: 'executions with trees and witnesses',
} as const;

/** Without the table of their heads trees cannot be made, and what asks for them fails at once. */
function treesIn(databaseUrl: string) {
  const rename = (from: string, to: string) =>
    query(databaseUrl, `alter table runtime.${from} rename to ${to}`);
  return {
    putAway: () => rename('merkle_heads', 'merkle_heads_away'),
    bringBack: () => rename('merkle_heads_away', 'merkle_heads'),
    /** Entries that are in them. */
    entries: async (): Promise<number> => {
      const [row] = await query<{ entries: number }>(
        databaseUrl,
        'select coalesce(sum(size), 0)::float as entries from runtime.merkle_heads',
      );
      return row?.entries ?? 0;
    },
  };
}

type Trees = ReturnType<typeof treesIn>;

/** Asks for each deployment's checkpoint until it is there: that makes what its tree lacks. */
async function growTrees(
  { url, key }: Pick<System, 'url' | 'key'>,
  heads: readonly string[],
  trees: Pick<Trees, 'entries'>,
): Promise<Rate & { readonly sizes: readonly number[] }> {
  const before = await trees.entries();
  const began = performance.now();
  const sizes = await Promise.all(heads.map((head) => sizeAt(`${url}${head}`, key)));
  const seconds = (performance.now() - began) / 1000;
  const count = (await trees.entries()) - before;
  return { count, perSecond: count / seconds, sizes };
}

const RETRY_MS = 100;

async function sizeAt(head: string, key: string): Promise<number> {
  for (;;) {
    const answer = await fetch(head, { headers: { authorization: `Bearer ${key}` } });
    const body = (await answer.json()) as { data: { size: number } };
    if (answer.ok) return body.data.size;
    // A long journal's tree takes longer than a request.
    if (answer.status !== 503) throw new Error(`${head} was answered ${answer.status}`);
    await wait(RETRY_MS);
  }
}

/** Asks for all of these again and again, spread over the time between two looks of a witness. */
function witnesses(
  { url, key }: Pick<System, 'url' | 'key'>,
  paths: readonly string[],
  everySeconds: number,
): AsyncDisposable {
  let isOver = false;
  const follow = async () => {
    for (let at = 0; !isOver; at += 1) {
      const path = `${url}${paths[at % paths.length]}`;
      const answer = await fetch(path, { headers: { authorization: `Bearer ${key}` } });
      await answer.arrayBuffer();
      await wait((everySeconds * 1000) / paths.length);
    }
  };
  const following = follow();
  return {
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      await following;
    },
  };
}

const TOOLS = new Set(['wrk']);

/** Processor time for one of what a run counts, in microseconds, of all programs of the installation. */
const costOf = (medians: readonly Medians[], name: string): number =>
  medians
    .find((one) => one.name === name)
    ?.microseconds.filter(([program]) => !TOOLS.has(program))
    .reduce((sum, [, median]) => sum + median, 0) ?? Number.NaN;

function tell(
  medians: readonly Medians[],
  { deployments, 'witness-every': every, write }: Given<typeof DEFAULTS>,
): void {
  const cost = (name: keyof typeof NAMES) => costOf(medians, NAMES[name]);
  const rate = medians.find(({ name }) => name === NAMES.without)?.perSecond ?? Number.NaN;
  const looks = deployments / every / rate;
  write('\nµs of processor for one, of the whole installation');
  for (const name of Object.values(NAMES)) write(`${name.padEnd(42)} ${costOf(medians, name).toFixed(1)}`);
  const seen = cost('trees') + looks * (cost('checkpoint') + cost('proof'));
  const ofWitnesses = `an entry in its tree, and its part of ${deployments} witnesses every ${every} s`;
  const verdicts: Verdict[] = [
    ['an entry in its tree ÷ its execution', cost('trees') / cost('without')] as const,
    [`${ofWitnesses}, ÷ its execution`, seen / cost('without')] as const,
    ['executions with all of it ÷ without, − 1', cost('with') / cost('without') - 1] as const,
  ].map(([what, value]) => ({ what, value, atMost: MOST_SHARE }));
  for (const line of ['', ...VERDICTS_HEAD, ...verdicts.map(verdictRow)]) write(line);
  if (!verdicts.every(isReached)) process.exitCode = 1;
}

await runMeasurement(DEFAULTS, runEvidence);
