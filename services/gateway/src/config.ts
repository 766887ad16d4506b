import { MAX_JSON_DEPTH } from '@orrery/contracts';
import { readContentLimits } from '@orrery/service-host';
import {
  type Environment,
  flag,
  httpUrl,
  port,
  readEnvironment,
  readTogether,
  redisUrl,
  wholeNumber,
} from '@orrery/service-kit';
import { z } from 'zod';
import { isProxyList, trustedProxies } from './core/clients/clients.js';
import { perMinute, type RatePolicies } from './core/rates/token-bucket.js';
import {
  DEFAULT_SIGN_UP_QUOTAS,
  parseSignUpQuotas,
  SIGN_UP_QUOTAS_FORM,
} from './core/sign-in/sign-in-text.js';
import { NODES_FORM, parseNodes } from './core/signatures/node-list.js';

const limit = (fallback: number, min: number, max: number, what: string) =>
  wholeNumber({ min, max, what: `${what}, ${min} to ${max}` }).default(fallback);

const environment = z.object({
  PORT: port.default(3000),
  HOST: z.string().max(255).default('127.0.0.1').describe('the address to listen on'),
  REDIS_URL: redisUrl.optional(),
  BODY_LIMIT: limit(1024 * 1024, 1024, 32 * 1024 * 1024, 'bytes that a request body may have'),
  MAX_JSON_DEPTH: limit(MAX_JSON_DEPTH, 4, MAX_JSON_DEPTH, 'levels that the JSON of a body may be nested'),
  REQUEST_TIMEOUT_MS: limit(30_000, 1000, 600_000, 'milliseconds within which a request must have arrived'),
  HEADERS_TIMEOUT_MS: limit(10_000, 1000, 600_000, 'milliseconds within which its headers must have arrived'),
  CALL_DEADLINE_MS: limit(30_000, 1000, 600_000, 'milliseconds that a request may take to be answered'),
  AI_DEADLINE_MS: limit(120_000, 1000, 600_000, 'milliseconds that an execution by a model may take'),
  TRUST_PROXY: z
    .string()
    .max(1024)
    .refine(isProxyList)
    .default('false')
    .describe('true, false, a number of hops, or addresses and networks separated by commas'),
  MAX_IN_FLIGHT: limit(1000, 1, 100_000, 'requests that may be under way at once'),
  MAX_WAITING: limit(5000, 0, 100_000, 'executions that may wait for a model or a payment at once'),
  MAX_CONNECTIONS: limit(10_000, 16, 1_000_000, 'connections that may be open at once'),
  MAX_CONNECTIONS_PER_ADDRESS: limit(256, 1, 1_000_000, 'connections that one client address may have'),
  MAX_BODY_MIB: limit(64, 1, 65_536, 'MiB that the bodies of all requests may take at once'),
  SHUTDOWN_DELAY_MS: limit(0, 0, 60_000, 'milliseconds for which requests are still taken once it is to end'),
  MAX_STREAMS: limit(1000, 1, 100_000, 'live streams that may be open at once'),
  MAX_STREAMS_PER_ACCOUNT: wholeNumber({
    ...{ min: 1, max: 100_000, what: 'of these, those of one account, 1 to 100000' },
  }).optional(),
  MAX_PUBLIC_STREAMS: limit(4000, 0, 100_000, 'live streams without a key that may be open at once'),
  MAX_STREAMS_PER_ADDRESS: limit(5, 1, 100_000, 'of these, those of one client address'),
  MAX_STREAMS_PER_DEPLOYMENT: limit(1000, 1, 100_000, 'of these, those of one deployment'),
  SIGN_UP: z.enum(['open', 'closed']).default('closed').describe('open or closed'),
  SIGN_UP_QUOTAS: z
    .string()
    .max(1024)
    .refine((text) => parseSignUpQuotas(text) !== undefined)
    .optional()
    .describe(SIGN_UP_QUOTAS_FORM),
  PUBLIC_URL: httpUrl.optional(),
  WALLET_NODES: z
    .string()
    .max(4096)
    .refine((text) => parseNodes(text) !== undefined)
    .default('')
    .describe(NODES_FORM),
  CONSOLE: flag.default(true),
  PLAYERS_PAGE: flag.default(true),
  RATE_LIMITS: flag.default(true),
  RATE_KEY_PER_SECOND: limit(100, 1, 1_000_000, 'requests a second per key'),
  RATE_KEY_BURST: limit(500, 1, 1_000_000, 'requests at once per key'),
  RATE_APP_ADDRESS_PER_MINUTE: limit(120, 1, 1_000_000, 'public requests a minute per client address'),
  RATE_APP_READS_PER_MINUTE: limit(600, 1, 1_000_000, 'public reads a minute per client address'),
  RATE_APP_VERIFICATIONS_PER_MINUTE: limit(
    10,
    1,
    1_000_000,
    'public verifications a minute per client address',
  ),
  RATE_APP_WALLET_PER_MINUTE: limit(60, 1, 1_000_000, 'executions a minute per wallet and deployment'),
  RATE_APP_NODE_PER_MINUTE: limit(
    20,
    1,
    1_000_000,
    'signatures of contract accounts a minute per client address',
  ),
  RATE_AUTH_PER_MINUTE: limit(10, 1, 1_000_000, 'sign-in requests a minute per client address'),
});

/** How long a run that reached its deadline may take to end, in milliseconds. */
const ENDING_MS = 5000;

export type GatewayConfig = Readonly<ReturnType<typeof readGatewayConfig>>;

/** @throws StartupError naming every variable that is wrong. */
export function readGatewayConfig(env: Environment) {
  const { read, contentLimits } = readTogether({
    read: () => readEnvironment(environment, env),
    contentLimits: () => readContentLimits(env),
  });
  return {
    host: read.HOST,
    port: read.PORT,
    redisUrl: read.REDIS_URL,
    limits: {
      bodyLimit: read.BODY_LIMIT,
      jsonDepth: read.MAX_JSON_DEPTH,
      requestTimeoutMs: read.REQUEST_TIMEOUT_MS,
      headersTimeoutMs: read.HEADERS_TIMEOUT_MS,
      maxConnections: read.MAX_CONNECTIONS,
      maxPerAddress: read.MAX_CONNECTIONS_PER_ADDRESS,
      maxBodyBytes: read.MAX_BODY_MIB * 1024 * 1024,
      trustProxy: trustedProxies(read.TRUST_PROXY),
    },
    contentLimits,
    deadlineMs: read.CALL_DEADLINE_MS,
    // A run is waited for never shorter than any other call.
    runDeadlineMs: Math.max(read.CALL_DEADLINE_MS, read.AI_DEADLINE_MS + ENDING_MS),
    maxStreams: read.MAX_STREAMS,
    streamBounds: {
      perAccount: read.MAX_STREAMS_PER_ACCOUNT ?? Math.ceil(read.MAX_STREAMS / 4),
      perAddress: read.MAX_STREAMS_PER_ADDRESS,
      perDeployment: read.MAX_STREAMS_PER_DEPLOYMENT,
      ofStrangers: read.MAX_PUBLIC_STREAMS,
    },
    // Load balancers see `/readyz` refuse before connections are refused.
    shutdownDelayMs: read.SHUTDOWN_DELAY_MS,
    signIn: {
      isOpen: read.SIGN_UP === 'open',
      publicUrl: read.PUBLIC_URL ?? localUrl(read),
      quotas: parseSignUpQuotas(read.SIGN_UP_QUOTAS ?? '') ?? DEFAULT_SIGN_UP_QUOTAS,
    },
    walletNodes: parseNodes(read.WALLET_NODES) ?? {},
    console: read.CONSOLE,
    playersPage: read.PLAYERS_PAGE,
    maxInFlight: read.MAX_IN_FLIGHT,
    maxWaiting: read.MAX_WAITING,
    rates: read.RATE_LIMITS ? ratesOf(read) : undefined,
  };
}

const ratesOf = (read: z.output<typeof environment>): RatePolicies => ({
  key: { name: 'key', burst: read.RATE_KEY_BURST, perSecond: read.RATE_KEY_PER_SECOND },
  address: perMinute('address', read.RATE_APP_ADDRESS_PER_MINUTE),
  reading: perMinute('reading', read.RATE_APP_READS_PER_MINUTE),
  verification: perMinute('verification', read.RATE_APP_VERIFICATIONS_PER_MINUTE),
  wallet: perMinute('wallet', read.RATE_APP_WALLET_PER_MINUTE),
  node: perMinute('node', read.RATE_APP_NODE_PER_MINUTE),
  signIn: perMinute('sign-in', read.RATE_AUTH_PER_MINUTE),
});

/** Where it can be reached as far as it knows by itself. */
const localUrl = ({ HOST, PORT }: z.output<typeof environment>): string =>
  `http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${PORT}`;
