import { readFileSync } from 'node:fs';
import { type AiModelRecord, aiModelRecord } from '@orrery/contracts';
import { type Environment, readEnvironment, StartupError, wholeNumber } from '@orrery/service-kit';
import { z } from 'zod';

const MIB = 1024 * 1024;
/** The chains that bindings may name by default (docs/operations.md). */
const WELL_KNOWN_CHAINS = 'solana-mainnet,solana-devnet,near-mainnet,near-testnet,base-mainnet,base-sepolia';
const limit = (fallback: number, min: number, max: number, what: string) =>
  wholeNumber({ min, max, what: `${what}, ${min} to ${max}` }).default(fallback);

const environment = z.object({
  LEASE_TTL_MS: limit(6000, 500, 600_000, 'milliseconds until a silent process loses its deployments'),
  MAX_INSTANCES_PER_DEPLOYMENT: limit(100_000, 1, 10_000_000, 'instances that a deployment may have'),
  MEMORY_MIB: limit(256, 16, 65_536, 'MiB that instances may take in memory, roughly'),
  MAX_RESIDENT_DEPLOYMENTS: limit(20_000, 100, 1_000_000, 'deployments kept in memory'),
  CHAINS: z.string().default(WELL_KNOWN_CHAINS).describe('names of chains, separated by commas'),
  AI_MODELS_FILE: z.string().optional().describe('the path of a JSON file with the AI models'),
});

export interface RuntimeLimits {
  readonly instancesPerDeployment: number;
}

export interface RuntimeConfig {
  readonly limits: RuntimeLimits;
  /** A process that does not renew its leases for this long loses them, in milliseconds. */
  readonly leaseTtlMs: number;
  readonly memory: { readonly maxBytes: number; readonly maxDeployments: number };
  readonly chains: readonly string[];
  readonly models: readonly AiModelRecord[];
}

/** @throws StartupError naming every variable that is wrong. */
export function readRuntimeConfig(env: Environment): RuntimeConfig {
  const read = readEnvironment(environment, env);
  return {
    limits: { instancesPerDeployment: read.MAX_INSTANCES_PER_DEPLOYMENT },
    leaseTtlMs: read.LEASE_TTL_MS,
    memory: { maxBytes: read.MEMORY_MIB * MIB, maxDeployments: read.MAX_RESIDENT_DEPLOYMENTS },
    chains: read.CHAINS.split(',').map((name) => name.trim()),
    models: read.AI_MODELS_FILE === undefined ? [] : readModels(read.AI_MODELS_FILE),
  };
}

/** Members beyond the record (addresses, keys) are for whoever calls the models. */
function readModels(path: string): AiModelRecord[] {
  try {
    const listed: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return z.array(z.object(aiModelRecord.shape)).parse(listed);
  } catch (error) {
    throw new StartupError('AI_MODELS_FILE cannot be read as a list of AI models: correct it.', {
      cause: error,
    });
  }
}
