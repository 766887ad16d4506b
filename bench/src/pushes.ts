import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { Resources } from '@orrery/service-kit';
import { ANVIL_KEYS, startAnvil } from '@orrery/testing/servers';
import { type System, startAllInOne, startNode } from '@orrery/testing/system';
import { runHttpLoad } from './load/http-load.js';
import { measureInTurns, quantile } from './measuring/report.js';
import { type Given, runMeasurement } from './measuring/run-measurement.js';
import { createDatabase, startPostgres, untilPublished, untilTrue } from './systems/postgres.js';
import { poster, setUpDeployments, TICK } from './systems/set-up.js';

const DEFAULTS = {
  rounds: 3,
  /** Of load in each measurement. */
  seconds: 8,
  connections: 64,
  /** Executions that are pushed one by one, for their delay, and those that are pushed as a backlog. */
  single: 20,
  backlog: 2000,
};

const WIDE_LIMITS = { RATE_KEY_PER_SECOND: '1000000', RATE_KEY_BURST: '1000000' };
const DEPLOYMENTS = 20;
const chain = { name: 'local', caip2: 'eip155:31337', family: 'evm', signerKeyEnv: 'LOCAL_KEY' };

/**
 * How fast executions reach an EVM chain (anvil, a block for each transaction), how long after their commit, and for how
 * much gas; and executions a second with pushes to a chain that is down, against the same without pushes, in turns.
 */
async function runPushes(options: Given<typeof DEFAULTS>): Promise<void> {
  await using resources = new Resources();
  const { folder, postgres } = await startPostgres(resources);
  const start = async (name: string, settings: object): Promise<System> => {
    const file = join(folder, `${name}.json`);
    await writeFile(file, JSON.stringify([{ ...chain, ...settings }]));
    const env = { ...WIDE_LIMITS, CHAINS_FILE: file, LOCAL_KEY: ANVIL_KEYS[0] };
    return resources.use(name, await startAllInOne(await createDatabase(postgres.url, name), env));
  };
  const anvil = await startAnvil();
  resources.add('anvil', anvil.stop);
  const contract = await deployRegistry(anvil.url, folder);
  await measureLiving(
    await start('living', { rpcUrls: [anvil.url], contract }),
    anvil.url,
    contract,
    options,
  );
  await measureDead(await start('dead', { rpcUrls: ['http://127.0.0.1:9'], contract }), options);
}

async function deployRegistry(url: string, folder: string): Promise<string> {
  const file = join(folder, 'deploy.json');
  await writeFile(file, JSON.stringify([{ ...chain, rpcUrls: [url] }]));
  const args = ['chains', 'deploy', '--chain', 'local', '--json'];
  const env = { CHAINS_FILE: file, LOCAL_KEY: ANVIL_KEYS[0] };
  await using deploying = startNode('apps/cli/dist/main.js', env, { args });
  const [, contract = ''] = await deploying.waitFor(/"contract":"(0x[0-9a-f]{40})"/);
  return contract;
}

async function measureLiving(
  system: System,
  url: string,
  contract: string,
  options: Given<typeof DEFAULTS>,
): Promise<void> {
  const { single, backlog, write } = options;
  const targets = await setUpDeployments(system, {
    count: DEPLOYMENTS,
    targetChains: ['local'],
  });
  const post = poster(system);
  const execute = (at: number) => post((targets[at % targets.length] ?? '').replace('/api', ''), TICK);
  const delays: number[] = [];
  for (let at = 0; at < single; at += 1) {
    const startedAt = performance.now();
    await execute(at);
    await untilPushed(url, contract, at + 1);
    delays.push(performance.now() - startedAt);
  }
  const startedAt = performance.now();
  const work = Array.from({ length: 16 }, async (_, first) => {
    for (let at = first; at < backlog; at += 16) await execute(at);
  });
  await Promise.all(work);
  await untilPushed(url, contract, single + backlog);
  const seconds = (performance.now() - startedAt) / 1000;
  write(`delay from the call to the block: median ${Math.round(quantile(delays, 0.5))} ms`);
  write(`${backlog} executions of ${DEPLOYMENTS} deployments: ${Math.round(backlog / seconds)} pushes/s`);
  for (const line of await gasLines(url, contract)) write(line);
}

interface PushedLog {
  readonly transactionHash: string;
}

const logsOf = (url: string, contract: string) =>
  rpc<PushedLog[]>(url, 'eth_getLogs', {
    address: contract,
    fromBlock: '0x0',
    topics: [[PUSHED]],
  });

/** keccak256 of `Pushed(address,uint64,bytes32,bytes32,bytes)`. */
const PUSHED = '0x57a630756b52337e0b52c8a6e94f0e5104db3fba897ae1749150212b05f5f259';

async function untilPushed(url: string, contract: string, count: number): Promise<void> {
  while ((await logsOf(url, contract)).length < count) await wait(20);
}

/** Gas of a push, by how many the transaction holds. */
async function gasLines(url: string, contract: string): Promise<string[]> {
  const sizes = new Map<string, number>();
  for (const { transactionHash: hash } of await logsOf(url, contract))
    sizes.set(hash, (sizes.get(hash) ?? 0) + 1);
  const bySize = new Map<number, number[]>();
  for (const [hash, size] of sizes) {
    const { gasUsed } = await rpc<{ gasUsed: string }>(url, 'eth_getTransactionReceipt', hash);
    bySize.set(size, [...(bySize.get(size) ?? []), Number(gasUsed) / size]);
  }
  const mean = (values: number[]) =>
    Math.round(values.reduce((sum, value) => sum + value, 0) / values.length);
  return [...bySize]
    .sort(([a], [b]) => a - b)
    .map(
      ([size, gas]) => `gas per push, ${size} in a transaction: ${mean(gas)} (${gas.length} transactions)`,
    );
}

async function measureDead(system: System, options: Given<typeof DEFAULTS>): Promise<void> {
  const { url, key, databaseUrl } = system;
  const run = async (name: string, targetChains: string[]) => {
    const paths = await setUpDeployments(system, { count: 200, targetChains });
    return { name, measure: () => runHttpLoad({ ...options, url, key, paths }) };
  };
  const runs = [await run('without pushes', []), await run('with pushes to a chain that is down', ['local'])];
  for (const { measure } of runs) await measure();
  const rest = async () => {
    await untilPublished(databaseUrl);
    await untilTrue(databaseUrl, TAKEN_IN, 200);
    return '';
  };
  await measureInTurns(runs, { ...options, rest });
}

/** The chain-pusher has read all journals. */
const TAKEN_IN = `not exists (
  select from runtime.journal_heads h join runtime.deployments d on d.id = h.deployment_id
  left join chain_pusher.inbox_positions p on p.ordering_key = d.address
  where p.last_seq is distinct from h.seq)`;

async function rpc<T>(url: string, method: string, ...params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const headers = { 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body });
  return ((await answer.json()) as { result: T }).result;
}

await runMeasurement(DEFAULTS, runPushes);
