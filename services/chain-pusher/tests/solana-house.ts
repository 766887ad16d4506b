import type { SolanaChainConfig } from '@orrery/contracts';
import { startSolanaNode } from '@orrery/testing/servers';
import { onTestFinished } from 'vitest';
import { signerOf } from '../src/chains/solana/solana-transaction.js';
import { chainOf } from './running-pusher.js';

/** A keypair made of the seed 1, 1, 1 …, for tests alone. */
export const SOLANA_KEY = JSON.stringify([
  ...Array<number>(32).fill(1),
  ...[138, 136, 227, 221, 116, 9, 241, 149, 253, 82, 219, 45, 60, 186, 93, 114],
  ...[202, 103, 9, 191, 29, 148, 18, 27, 243, 116, 136, 1, 180, 15, 111, 92],
]);

/** A Solana node as a chain of the configuration. It ends with the test. */
export async function startSolana({
  config = {},
  funded = true,
  ...options
}: {
  config?: Partial<SolanaChainConfig>;
  /** Whether the signer has a balance, or how many lamports. */
  funded?: boolean | number;
  /** Default 25. */
  slotMs?: number;
  /** A transaction can be included for half as many slots, at least, after it was signed. Default 1,200. */
  lifetime?: number;
} = {}) {
  const node = await startSolanaNode(options);
  onTestFinished(() => node[Symbol.asyncDispose]());
  const { address } = await signerOf(SOLANA_KEY);
  if (funded !== false) node.fund(address, funded === true ? undefined : funded);
  const common = { name: 'local', caip2: node.caip2, family: 'solana', signerKeyEnv: 'KEY' } as const;
  const through = (...rpcUrls: string[]) => chainOf({ ...common, rpcUrls, ...config } as never, SOLANA_KEY);
  const memos = (): Record<string, unknown>[] => node.memos().map((memo) => JSON.parse(memo));
  return { node, through, chain: through(node.url), memos, url: node.url, signer: address };
}

/** The numbers that memos hold, in the order of the chain. */
export const numbersIn = (memos: readonly Record<string, unknown>[]): number[] =>
  memos.flatMap(({ number, from = number, to = number }) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, at) => Number(from) + at),
  );
