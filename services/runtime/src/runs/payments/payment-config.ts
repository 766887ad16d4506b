import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { isEvmAddress, toPointer } from '@orrery/contracts';
import { EnvironmentError } from '@orrery/service-kit';
import { z } from 'zod';
import type { PaymentAsset, PaymentFamily } from '../../core/payments/payment.js';

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

/** A network by its name in version 1 of x402. */
export function networkOf(name: string): { caip2: string; family: PaymentFamily } | undefined {
  const solana = Object.hasOwn(SOLANA_NETWORKS, name) ? SOLANA_NETWORKS[name] : undefined;
  if (solana !== undefined) return { caip2: solana, family: 'solana' };
  const chainId = Object.hasOwn(EVM_CHAIN_IDS, name) ? EVM_CHAIN_IDS[name] : undefined;
  return chainId === undefined ? undefined : { caip2: `eip155:${chainId}`, family: 'evm' };
}

export interface PaymentConfig {
  /** How long a settlement may take before its outcome counts as unclear, in milliseconds. */
  readonly settleMs: number;
  readonly facilitatorUrl: string;
  readonly accepts: readonly PaymentAsset[];
}

const url = z.url({ protocol: /^https?$/, error: 'an address with http or https is required' });
const SOLANA_ADDRESS = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

const accepted = z
  .strictObject({
    network: z.string(),
    asset: z.string(),
    decimals: z.int().min(0).max(36),
    name: z.string().min(1),
    version: z.string().min(1),
    rpcUrls: z.array(url),
  })
  .transform(({ network, ...rest }, context): PaymentAsset => {
    const known = networkOf(network);
    const problem = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: [path], message });
    if (known === undefined) problem('network', `"${network}" is no network of x402 version 1`);
    if (known?.family === 'evm' && !isEvmAddress(rest.asset))
      problem(
        'asset',
        '"0x" and 40 hexadecimal digits are required, with a valid checksum if letters of both cases occur',
      );
    if (known?.family === 'solana' && !SOLANA_ADDRESS.test(rest.asset))
      problem('asset', 'the address of a mint in base58 is required');
    return { ...rest, network, caip2: known?.caip2 ?? '', family: known?.family ?? 'evm' };
  });

const file = z
  .strictObject({ facilitatorUrl: url, accepts: z.array(accepted).min(1) })
  .superRefine(({ accepts }, context) => {
    const names = accepts.map(({ network, asset }) => `${network} ${asset.toLowerCase()}`);
    names.forEach((name, index) => {
      if (names.indexOf(name) < index)
        context.addIssue({ code: 'custom', path: ['accepts', index], message: 'this asset is listed twice' });
    });
  });

const SETTLE_MS = 20_000;

const settledInTime = (read: Omit<PaymentConfig, 'settleMs'>): PaymentConfig => ({
  ...read,
  settleMs: SETTLE_MS,
});

/** The test networks with their USDC, through the x402 project's public facilitator. */
export const TEST_NETWORKS: PaymentConfig = settledInTime(
  file.parse({
    facilitatorUrl: 'https://x402.org/facilitator',
    accepts: [
      {
        network: 'base-sepolia',
        asset: '0x036CbD53842c5426634e7929541eC2318f3dCF7e',
        decimals: 6,
        name: 'USDC',
        version: '2',
        rpcUrls: ['https://sepolia.base.org'],
      },
      {
        network: 'solana-devnet',
        asset: '4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU',
        decimals: 6,
        name: 'USDC',
        version: '2',
        rpcUrls: ['https://api.devnet.solana.com'],
      },
    ],
  }),
);

/** @throws EnvironmentError with all that is wrong in the file */
export function readPayments(path: string): PaymentConfig {
  const parsed = file.safeParse(readJson(path));
  if (parsed.success) return settledInTime(parsed.data);
  const problems = parsed.error.issues.map(
    ({ path: at, message }) =>
      `PAYMENTS_FILE (at ${at.length === 0 ? 'the top' : toPointer(at)}: ${message})`,
  );
  throw new EnvironmentError(problems);
}

function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const problem =
      code === 'ENOENT'
        ? `there is no file ${resolve(path)}; \`npm run local-payments\` writes .orrery/payments.json and removes it when it ends`
        : 'not a file with JSON that can be read';
    throw new EnvironmentError([`PAYMENTS_FILE (${problem})`]);
  }
}
