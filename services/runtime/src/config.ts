import { availableParallelism } from 'node:os';
import { QUICKNET_HASH } from '@orrery/deciding';
import { contentsOf, KEYS_FORM, readChainFile, readContentLimits, readKeys } from '@orrery/service-host';
import {
  databaseUrl,
  type Environment,
  EnvironmentError,
  readEnvironment,
  readTogether,
  wholeNumber,
} from '@orrery/service-kit';
import { z } from 'zod';
import { KEY_FORM, parseSigningKeys, type SigningKey } from './core/merkle/checkpoint.js';
import type { Model } from './core/prompting/model.js';
import type { BeaconConfig } from './runs/asking/beacons.js';
import { type ModelFile, openModelFile } from './runs/models/model-file.js';
import { type PaymentConfig, readPayments, TEST_NETWORKS } from './runs/payments/payment-config.js';
import type { RuntimeLimits } from './store/deployments/deployment-directory.js';

export { parseSigningKeys } from './core/merkle/checkpoint.js';

const MIB = 1024 * 1024;

const limit = (fallback: number, min: number, max: number, what: string) =>
  wholeNumber({ min, max, what: `${what}, ${min} to ${max}` }).default(fallback);

/**
 * A query that no index serves keeps a core of PostgreSQL busy, and one more query at once on two cores doubles what executions
 * beside them wait (docs/performance.md). Where PostgreSQL is elsewhere the cores of this machine are a guess.
 */
const QUERIES_AT_ONCE = Math.max(1, Math.min(4, Math.floor(availableParallelism() / 2)));

const environment = z.object({
  RUNTIME_DIRECTORY_URL: databaseUrl.optional(),
  RUNTIME_QUERIES_AT_ONCE: limit(QUERIES_AT_ONCE, 1, 64, 'queries over instances that run at once'),
  LEASE_TTL_MS: limit(6000, 500, 600_000, 'milliseconds until a silent process loses its deployments'),
  MAX_INSTANCES_PER_DEPLOYMENT: limit(100_000, 1, 10_000_000, 'instances that a deployment may have'),
  MEMORY_MIB: limit(256, 16, 65_536, 'MiB that instances may take in memory, roughly'),
  MAX_RESIDENT_DEPLOYMENTS: limit(20_000, 100, 1_000_000, 'deployments kept in memory'),
  CHAINS_FILE: z.string().optional().describe('the path of a JSON file with the chains'),
  MESSAGE_MAX_AGE_S: limit(300, 1, 86_400, 'seconds that a signed message may be old'),
  MESSAGE_MAX_AHEAD_S: limit(60, 0, 3600, 'seconds that the time of a signed message may be ahead'),
  AI_CALLS_PER_DEPLOYMENT: wholeNumber({
    min: 1,
    max: 100_000,
    what: 'calls of AI models that one deployment may have under way, 1 to 100000',
  }).optional(),
  AI_DEADLINE_MS: limit(120_000, 1000, 600_000, 'milliseconds that an execution by a model may take'),
  PAYMENTS_FILE: z.string().optional().describe('the path of a JSON file with what payments are taken in'),
  AI_MODELS_FILE: z.string().optional().describe('the path of a JSON file with the AI models'),
  DRAND_URL: z
    .url({ protocol: /^https?$/ })
    .default('https://api.drand.sh')
    .describe('the address of a drand server'),
  DRAND_CHAIN_HASH: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .default(QUICKNET_HASH)
    .describe('the hash of a drand chain, 64 hex digits'),
  RANDOMNESS_KEYS: z.string().optional().describe(KEYS_FORM),
  RANDOMNESS_KEYS_FILE: z
    .string()
    .optional()
    .describe('the path of a file with what RANDOMNESS_KEYS would hold'),
});

const signing = z.object({
  ORRERY_SIGNING_KEY: z.string().optional().describe(KEY_FORM),
  ORRERY_SIGNING_KEY_FILE: z
    .string()
    .optional()
    .describe('the path of a file with what ORRERY_SIGNING_KEY would hold'),
});

export interface RuntimeConfig {
  /** Where the directory of homes is; `undefined`: in the database itself. */
  readonly directoryUrl: string | undefined;
  /** How long an execution by a model may take whose caller waits, in milliseconds. */
  readonly aiDeadlineMs: number;
  readonly limits: RuntimeLimits;
  /** A process that does not renew its leases for this long loses them, in milliseconds. */
  readonly leaseTtlMs: number;
  /** Queries over instances that run at once in this process, each on a connection of its own. */
  readonly queriesAtOnce: number;
  readonly memory: { readonly maxBytes: number; readonly maxDeployments: number };
  /** How far the time of a signed message may lie from now. */
  readonly messageWindow: { readonly maxAgeMs: number; readonly maxAheadMs: number };
  readonly chains: readonly string[];
  /** In what executions may be paid, and through whom. */
  readonly payments: PaymentConfig;
  /** What checkpoints are signed with, the newest first. Without any there are no checkpoints. */
  readonly signingKeys: readonly SigningKey[];
  /** The models at the start. */
  readonly models: readonly Model[];
  /** Where they stand, if they are the operator's; the list there is followed. */
  readonly modelFile: ModelFile | undefined;
  /** Calls of models that one deployment may have under way in one process; `Infinity` for any number. */
  readonly modelCallsPerDeployment: number;
  /** What secrets for random numbers are derived from: the first one from now on. Without any nothing is drawn. */
  readonly randomnessKeys: readonly Buffer[];
  /** The public beacon of events that draw from one. */
  readonly beacon: BeaconConfig;
}

/** @throws EnvironmentError naming every variable that is wrong, and all problems of the lists of models and of chains. */
export function readRuntimeConfig(env: Environment): RuntimeConfig {
  const { read, content, list, chains, payments, signingKeys, randomnessKeys } = readTogether({
    read: () => readEnvironment(environment, env),
    signingKeys: () => keysOf(readEnvironment(signing, env)),
    content: () => readContentLimits(env),
    payments: () => (env['PAYMENTS_FILE'] ? readPayments(env['PAYMENTS_FILE']) : TEST_NETWORKS),
    list: () => (env['AI_MODELS_FILE'] ? openModelFile(env['AI_MODELS_FILE'], env) : undefined),
    randomnessKeys: () => readKeys(env, 'RANDOMNESS_KEYS'),
    chains: () => (env['CHAINS_FILE'] ? readChainFile(env['CHAINS_FILE']) : []),
  });
  return {
    directoryUrl: read.RUNTIME_DIRECTORY_URL,
    aiDeadlineMs: read.AI_DEADLINE_MS,
    limits: { ...content, instancesPerDeployment: read.MAX_INSTANCES_PER_DEPLOYMENT },
    leaseTtlMs: read.LEASE_TTL_MS,
    queriesAtOnce: read.RUNTIME_QUERIES_AT_ONCE,
    memory: { maxBytes: read.MEMORY_MIB * MIB, maxDeployments: read.MAX_RESIDENT_DEPLOYMENTS },
    messageWindow: {
      maxAgeMs: read.MESSAGE_MAX_AGE_S * 1000,
      maxAheadMs: read.MESSAGE_MAX_AHEAD_S * 1000,
    },
    chains: chains.map(({ name }) => name),
    payments,
    signingKeys,
    models: list?.models ?? [],
    modelFile: list,
    modelCallsPerDeployment: read.AI_CALLS_PER_DEPLOYMENT ?? Number.POSITIVE_INFINITY,
    randomnessKeys,
    beacon: { url: read.DRAND_URL, chainHash: read.DRAND_CHAIN_HASH },
  };
}

function keysOf({
  ORRERY_SIGNING_KEY: given,
  ORRERY_SIGNING_KEY_FILE: file,
}: z.output<typeof signing>): readonly SigningKey[] {
  if (given === undefined && file === undefined) return [];
  const keys = parseSigningKeys(given ?? contentsOf(file ?? '', 'ORRERY_SIGNING_KEY'));
  if (keys !== undefined && keys.length > 0) return keys;
  const variable = given === undefined ? 'ORRERY_SIGNING_KEY_FILE' : 'ORRERY_SIGNING_KEY';
  throw new EnvironmentError([`${variable} (not valid; expected ${KEY_FORM})`]);
}
