import {
  DEFAULT_CONTENT_LIMITS,
  type JsonObject,
  parseRequest,
  type Scope,
  ServiceError,
} from '@orrery/contracts';
import { createHealth, createLogger, systemClock } from '@orrery/service-kit';
import type { FastifyInstance } from 'fastify';
import { type AppContext, createApp, type HttpLimits } from '../../src/app.js';
import type { CallOperation, GatewayCall, RoutedRpc } from '../../src/core/requests/operation.js';
import { type KeyVerifier, principalOfKey } from '../../src/http/access/access.js';
import { createLocalLimiter } from '../../src/http/rates/limiter.js';
import { createWalletVerifier } from '../../src/wallets/verify-wallet.js';
import { thingContract } from './fake-contract.js';

export const scopes: readonly Scope[] = ['read', 'write', 'execute', 'keys'];

export const httpLimits: HttpLimits = {
  bodyLimit: 1024 * 1024,
  jsonDepth: 32,
  requestTimeoutMs: 2000,
  headersTimeoutMs: 1000,
  maxConnections: 100,
  maxPerAddress: 10,
  maxBodyBytes: 8 * 1024 * 1024,
  trustProxy: false,
};

interface SeenCall {
  name: string;
  request: { params: JsonObject; query: JsonObject; headers: JsonObject; body: unknown };
  call: GatewayCall;
}

/** The application over a service that does what the test says; without a word it answers what it was asked. */
export function fakeApp(overrides: Partial<AppContext> = {}): FakeApp {
  const seen: SeenCall[] = [];
  const lines: string[] = [];
  const answers: FakeApp['answers'] = {};
  const call: CallOperation = async (rpc, request, context) => {
    // As the service that answers does.
    parseRequest(rpc, request);
    const one = { name: rpc.name, request: request as SeenCall['request'], call: context };
    seen.push(one);
    return (await answers[rpc.name]?.(one)) ?? { data: { name: String(one.request.params.name) } };
  };
  const keys: KeyVerifier = {
    verify: async (token) => {
      if (!token.startsWith('key-')) throw new ServiceError('unauthorized');
      return principalOfKey({
        accountId: 7,
        keyId: 'k1',
        scopes: scopes.filter((scope) => token === 'key-all' || token === `key-${scope}`),
      });
    },
    forget: () => undefined,
    refresh: async () => undefined,
  };
  const logger = createLogger({ service: 'gateway', destination: { write: (line) => lines.push(line) } });
  const app = createApp({
    call,
    keys,
    logger,
    clock: systemClock,
    health: createHealth({ clock: systemClock }),
    deadlineMs: 30_000,
    limits: httpLimits,
    contentLimits: DEFAULT_CONTENT_LIMITS,
    maxInFlight: 100,
    maxWaiting: 100,
    limiter: createLocalLimiter(systemClock),
    rates: undefined,
    maxStreams: 2,
    streamBounds: { perAddress: 2, perDeployment: 3, ofStrangers: 4, perAccount: 1 },
    consoleFolder: undefined,
    docsFolder: undefined,
    playFolder: undefined,
    executeForWallet: async () => {
      throw new ServiceError('unavailable');
    },
    findPublished: async (address) => ({ address, worldAddress: '1', head: '0'.repeat(64) }),
    wallets: createWalletVerifier({}, async () => false),
    publicUrl: 'http://localhost:3000',
    stream: async (_request, call) => void call.begin().end(),
    routes: Object.values(thingContract.rpcs) as RoutedRpc[],
    ...overrides,
  });
  return { app, seen, lines, answers };
}

export interface FakeApp {
  app: FastifyInstance;
  /** Every call that reached a service. */
  seen: SeenCall[];
  /** What was logged. */
  lines: string[];
  answers: Record<string, (call: SeenCall) => Promise<Awaited<ReturnType<CallOperation>>>>;
}

export const authorized = { authorization: 'Bearer key-all' };
