import type { PaymentFamily } from './payment.js';

/** Chain ids of the EVM networks that version 1 of x402 names. */
export const EVM_CHAIN_IDS: Readonly<Record<string, number>> = {
  ethereum: 1,
  sepolia: 11155111,
  abstract: 2741,
  'abstract-testnet': 11124,
  'base-sepolia': 84532,
  base: 8453,
  'avalanche-fuji': 43113,
  avalanche: 43114,
  iotex: 4689,
  sei: 1329,
  'sei-testnet': 1328,
  polygon: 137,
  'polygon-amoy': 80002,
  peaq: 3338,
  story: 1514,
  educhain: 41923,
  'skale-base-sepolia': 324705682,
  megaeth: 4326,
  monad: 143,
  stable: 988,
  'stable-testnet': 2201,
  celo: 42220,
  flare: 14,
};

/** The networks of Solana that version 1 of x402 names, by CAIP-2. */
export const SOLANA_NETWORKS: Readonly<Record<string, string>> = {
  solana: 'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp',
  'solana-devnet': 'solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1',
  'solana-testnet': 'solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z',
};

export interface Network {
  readonly caip2: string;
  readonly family: PaymentFamily;
}

/** A network by its name in version 1 of x402. */
export function networkOf(name: string): Network | undefined {
  const solana = Object.hasOwn(SOLANA_NETWORKS, name) ? SOLANA_NETWORKS[name] : undefined;
  if (solana !== undefined) return { caip2: solana, family: 'solana' };
  const chainId = Object.hasOwn(EVM_CHAIN_IDS, name) ? EVM_CHAIN_IDS[name] : undefined;
  return chainId === undefined ? undefined : { caip2: `eip155:${chainId}`, family: 'evm' };
}
