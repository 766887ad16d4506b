import { BlockList } from 'node:net';
import type { ChainConfig, ChainFamily } from '@orrery/contracts';
import { contentsOf, KEYS_FORM, readChainFile, readKeys } from '@orrery/service-host';
import { type Environment, readEnvironment, StartupError, wholeNumber } from '@orrery/service-kit';
import { z } from 'zod';
import type { SigningChain } from './chains/open-chain.js';
import { readNetworks } from './core/webhooks/address-rules.js';
import type { SealingKey } from './core/webhooks/seal.js';

export { parseKeys } from '@orrery/service-host';
export type { SigningChain } from './chains/open-chain.js';

const environment = z.object({
  CHAINS_FILE: z.string().optional().describe('the path of a JSON file with the chains'),
  CHAIN_LEASE_TTL_MS: wholeNumber({
    min: 1000,
    max: 600_000,
    what: 'milliseconds until a silent process loses its chains, 1000 to 600000',
  }).default(10_000),
  WEBHOOK_KEYS: z.string().optional().describe(KEYS_FORM),
  WEBHOOK_KEYS_FILE: z.string().optional().describe('the path of a file with what WEBHOOK_KEYS would hold'),
  WEBHOOK_ALLOWED_NETWORKS: z
    .string()
    .refine((text) => readNetworks(text) !== undefined)
    .optional()
    .describe('networks such as 10.0.0.0/8,fd00::/8'),
});

export interface ChainPusherConfig {
  readonly chains: readonly SigningChain[];
  /** A process that does not renew its lease of a chain for this long loses it, in milliseconds. */
  readonly leaseTtlMs: number;
  /** How often each chain's lanes are checked, in milliseconds. Default 500. */
  readonly pollMs?: number;
  readonly webhooks?: WebhookConfig;
}

export interface WebhookConfig {
  /** What secrets are encrypted with: the first one from now on. Without any there are no webhooks. */
  readonly keys: readonly SealingKey[];
  /** Networks that are not public and that may be sent to. */
  readonly allowedNetworks: BlockList;
  /** Milliseconds of an attempt, of a quick one, and between comparisons with the journals; tests are less patient. */
  readonly attemptMs?: number;
  readonly slowMs?: number;
  readonly pollMs?: number;
}

/** @throws StartupError naming every variable that is wrong, or what is wrong in the file of chains */
export function readChainPusherConfig(env: Environment): ChainPusherConfig {
  const read = readEnvironment(environment, env);
  const { CHAINS_FILE, CHAIN_LEASE_TTL_MS } = read;
  const chains = CHAINS_FILE === undefined ? [] : readChainFile(CHAINS_FILE);
  return {
    chains: chains.map((chain) => ({ chain, signerKey: signerKeyOf(chain, env) })),
    leaseTtlMs: CHAIN_LEASE_TTL_MS,
    webhooks: {
      keys: readKeys(env, 'WEBHOOK_KEYS'),
      allowedNetworks: readNetworks(read.WEBHOOK_ALLOWED_NETWORKS ?? '') ?? new BlockList(),
    },
  };
}

/** One chain of the file, without its key. @throws StartupError */
export function readChain(env: Environment, name: string): ChainConfig {
  const { CHAINS_FILE } = readEnvironment(environment, env);
  if (CHAINS_FILE === undefined) throw new StartupError('There are no chains: set CHAINS_FILE.');
  const chains = readChainFile(CHAINS_FILE);
  const chain = chains.find((one) => one.name === name);
  if (chain !== undefined) return chain;
  const names = chains.map((one) => one.name).join(', ');
  throw new StartupError(`CHAINS_FILE has no chain ${name}. It has: ${names}.`);
}

/** One chain of the file with its key; the keys of others are not needed. @throws StartupError */
export function readSigningChain(env: Environment, name: string): SigningChain {
  const chain = readChain(env, name);
  return { chain, signerKey: signerKeyOf(chain, env) };
}

const KEY_FORMS: Readonly<Record<ChainFamily, { form: RegExp; what: string }>> = {
  evm: { form: /^0x[0-9a-fA-F]{64}$/, what: 'a private key of 0x and 64 hex digits' },
  solana: {
    form: /^([1-9A-HJ-NP-Za-km-z]{86,88}|\[(\s*\d{1,3}\s*,){63}\s*\d{1,3}\s*\])$/,
    what: 'a keypair of 64 bytes, as base58 or as the JSON array that solana-keygen writes',
  },
};

/** From the variable that the chain names, or from the file that the variable with `_FILE` names. */
function signerKeyOf({ name, family, signerKeyEnv }: ChainConfig, env: Environment): string {
  const path = env[`${signerKeyEnv}_FILE`];
  const key = (env[signerKeyEnv] || (path && contentsOf(path, signerKeyEnv)) || '').trim();
  const { form, what } = KEY_FORMS[family];
  if (form.test(key)) return key;
  // Never the value: it may be a key with a typing error.
  throw new StartupError(
    `The chain ${name} needs a signer: set ${signerKeyEnv}, or ${signerKeyEnv}_FILE with the path of a file, to ${what}.`,
  );
}
