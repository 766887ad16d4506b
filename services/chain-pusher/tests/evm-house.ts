import { readFileSync } from 'node:fs';
import type { SigningChain } from '@orrery/chain-pusher/config';
import { deployRegistry } from '@orrery/chain-pusher/operator';
import type { EvmChainConfig } from '@orrery/contracts';
import { systemClock } from '@orrery/service-kit';
import { ANVIL_KEYS, type AnvilOptions, startAnvil } from '@orrery/testing/servers';
import { createPublicClient, http, type Log, parseEventLogs } from 'viem';
import { onTestFinished } from 'vitest';
import { chainOf } from './running-pusher.js';

const { abi } = JSON.parse(
  readFileSync(new URL('../contracts/PushRegistry.json', import.meta.url), 'utf8'),
) as typeof import('../contracts/PushRegistry.json');

interface EvmOptions extends AnvilOptions {
  readonly keys?: readonly string[];
  readonly config?: Partial<EvmChainConfig>;
}

/** An anvil with the registry on it, as a chain of the configuration. It ends with the test. */
export async function startEvm({ config, ...options }: EvmOptions = {}) {
  const anvil = await startAnvil(options);
  onTestFinished(() => anvil.stop());
  const common = { name: 'local', caip2: 'eip155:31337', family: 'evm', signerKeyEnv: 'KEY' } as const;
  const bare = chainOf({ ...common, rpcUrls: [anvil.url], ...config } as never);
  const contract = await deployRegistry(
    bare.chain as EvmChainConfig,
    ANVIL_KEYS[0],
    systemClock,
    new AbortController().signal,
  );
  const chain: SigningChain = chainOf({ ...bare.chain, contract } as never);
  const client = createPublicClient({ transport: http(anvil.url, { timeout: 120_000 }) });
  const rpc = (method: string, ...params: unknown[]) =>
    client.request({ method, params } as never) as Promise<never>;
  /** The registry's log, in the order of the chain. */
  const pushed = async () => {
    const logs = await client.getLogs({ address: contract as `0x${string}`, fromBlock: 0n });
    return parseEventLogs({ abi: abi as never, logs: logs as Log[], eventName: 'Pushed' as never }).map(
      ({ args, transactionHash, blockNumber }) => ({
        ...(args as unknown as {
          deployment: string;
          number: bigint;
          entryHash: string;
          digest: string;
          data: `0x${string}`;
        }),
        transactionHash,
        blockNumber,
      }),
    );
  };
  /** The chain as a pusher reaches it through another RPC server. */
  const through = (...rpcUrls: string[]) => chainOf({ ...chain.chain, rpcUrls } as never);
  return { url: anvil.url, stop: anvil.stop, chain, contract, through, rpc, pushed };
}

export type Evm = Awaited<ReturnType<typeof startEvm>>;
