import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Resources } from '@orrery/service-kit';
import { ANVIL_KEYS, startAnvil, type TestServer, temporaryFolder } from '@orrery/testing/servers';
import { BUILT_COMMAND, repositoryRoot, startNode } from '@orrery/testing/system';

export interface LocalChain {
  readonly anvil: TestServer;
  /** Variables with which services push to it. */
  readonly env: Record<string, string>;
  /** The address of the registry. */
  readonly contract: string;
}

/**
 * The example of a local chain of the page on chains, on an anvil of its own, with the registry deployed.
 * @param through answers the address at which services reach the node, if it is not the node's own
 */
export async function startLocalChain(
  resources: Resources,
  through: (url: string) => Promise<string> = async (url) => url,
): Promise<LocalChain> {
  const anvil = resources.use('anvil', await startAnvil());
  const folder = await temporaryFolder(resources, 'chain');
  const example = join(repositoryRoot, 'docs/examples/local-chain.json');
  const [chain] = JSON.parse(await readFile(example, 'utf8'));
  const file = join(folder, 'chains.json');
  await writeFile(file, JSON.stringify([{ ...chain, rpcUrls: [await through(anvil.url)] }]));
  const env = { CHAINS_FILE: file, LOCAL_KEY: ANVIL_KEYS[0] };
  const args = ['chains', 'deploy', '--chain', 'local', '--json'];
  await using deploying = startNode(BUILT_COMMAND, env, { args });
  const [, contract = ''] = await deploying.waitFor(/"contract":"(0x[0-9a-f]{40})"/);
  if (contract !== chain.contract.toLowerCase())
    throw new Error(`the registry is at ${contract}, not where the example says`);
  return { anvil, env, contract: chain.contract as string };
}
