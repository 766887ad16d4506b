import { randomUUID } from 'node:crypto';
import { type Bus, connectBus, createInProcessHub } from '@orrery/bus';
import {
  type AccountState,
  accountContract,
  type ErrorCode,
  type JsonObject,
  type ReplyOf,
  runtimeContract,
  ServiceError,
} from '@orrery/contracts';
import {
  type RuntimeConfig,
  type RuntimeDependencies,
  type RuntimeLimits,
  readRuntimeConfig,
  startRuntime,
} from '@orrery/runtime';
import { createHealth, createLogger, Resources, systemClock } from '@orrery/service-kit';
import { createTestDatabase, PATIENT } from '@orrery/testing';
import { afterAll } from 'vitest';
import { attribute, createFakeCatalog, incrementVersion, usedContract } from './fake-catalog.js';
import { modelNamed } from './model-double.js';

type Rpcs = typeof runtimeContract.rpcs;
export type RpcName = keyof Rpcs;

/** A public request with the members that it leaves out. */
export interface Sent {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  headers?: Record<string, unknown>;
  body?: unknown;
}

export const OWNER = 1;
export const OTHER = 2;

type BootOptions = Omit<Partial<RuntimeConfig>, 'limits'> & { limits?: Partial<RuntimeLimits> } & Partial<
    Pick<RuntimeDependencies, 'logger' | 'clock' | 'databaseUrl' | 'health'>
  > &
  Pick<RuntimeDependencies, 'aroundCommit' | 'decider' | 'paymentParties' | 'soleProcess'>;

/** A database, a bus and a catalog in memory, for one test file; runtimes are booted on them. */
export async function prepareHouse() {
  const resources = new Resources(PATIENT);
  afterAll(() => resources.release());
  const logger = createLogger({ service: 'test', level: 'error' });
  const clock = systemClock;
  const { url: databaseUrl } = resources.use('test database', await createTestDatabase());
  const hub = createInProcessHub({ logger, clock });
  const busOf = async (service: string) => {
    const bus = await connectBus({ url: 'inprocess', hub, service, logger, clock });
    resources.add(`bus of ${service}`, () => bus.close());
    return bus;
  };
  const catalog = createFakeCatalog();
  catalog.plantSchema('counter', [
    attribute('count', 'integer', { defaultValue: 0 }),
    attribute('label', 'string', { constraints: { enum: ['a', 'b'] } }),
  ]);
  catalog.plantVersion(incrementVersion);
  await (await busOf('catalog')).serve(usedContract, replaceable(catalog.handlers));
  const accounts = new Map<number, AccountState>();
  await (await busOf('gateway')).serve(accountContract, {
    'accounts.states': async ({ afterId, limit }) => ({
      states: [...accounts.values()].filter(({ accountId }) => accountId > afterId).slice(0, limit),
    }),
  });
  const client = await busOf('client');

  const standBy = oneReader();
  /** Of each runtime, in the order of their starts: the deployments whose facts it published. */
  const published: string[][] = [];
  const noting = (bus: Bus): Bus => {
    const mine: string[] = [];
    published.push(mine);
    return {
      ...bus,
      publishAll: (message, publications) => {
        mine.push(...publications.map(({ orderingKey = '' }) => orderingKey));
        return bus.publishAll(message, publications);
      },
    };
  };
  const boot = async (options: BootOptions = {}) => {
    const { aroundCommit, decider, paymentParties, soleProcess = false, ...rest } = options;
    const { logger: ownLogger = logger, clock: ownClock = clock, ...others } = rest;
    const { databaseUrl: ownUrl = databaseUrl, health = createHealth({ clock }), ...overrides } = others;
    const config = {
      ...readRuntimeConfig({}),
      randomnessKeys: [Buffer.alloc(32, 7)],
      models: [modelNamed('double', true)],
      chains: ['base-sepolia', 'near-testnet'],
      aiDeadlineMs: 600_000,
      ...overrides,
      limits: { ...readRuntimeConfig({}).limits, ...overrides.limits },
    };
    const dependencies = {
      databaseUrl: ownUrl,
      bus: noting(standBy(await busOf('runtime'))),
      clock: ownClock,
      logger: ownLogger,
      health,
      soleProcess,
      ...(aroundCommit && { aroundCommit }),
      ...(decider && { decider }),
      ...(paymentParties && { paymentParties }),
    };
    return resources.use('runtime', await startRuntime(dependencies, config));
  };
  return { databaseUrl, catalog, accounts, boot, published, bus: client, resources, ...callers(client) };
}

/** Looks each handler up when it is called, so that a test may replace it. */
const replaceable = <Handlers extends object>(handlers: Handlers): Handlers =>
  Object.fromEntries(
    Object.keys(handlers).map((name) => [
      name,
      (...call: unknown[]) => (handlers as Record<string, (...call: unknown[]) => unknown>)[name]?.(...call),
    ]),
  ) as Handlers;

/** A hub in memory has one reader of a consumer: of several runtimes on it the first reads, the others stand by. */
function oneReader() {
  const reading = new Set<string>();
  return (bus: Bus): Bus => ({
    ...bus,
    consume: async (message, options) => {
      if (reading.has(options.consumer)) return;
      reading.add(options.consumer);
      options.signal.addEventListener('abort', () => reading.delete(options.consumer));
      await bus.consume(message, options);
    },
  });
}

export type House = Awaited<ReturnType<typeof prepareHouse>>;

/** How long a caller waits who does not mind, in milliseconds: a busy machine is twenty times slower. */
const PATIENCE_MS = 240_000;

function callers(bus: Bus) {
  const call = <Name extends RpcName>(
    name: Name,
    sent: Sent = {},
    { accountId = OWNER, patience = PATIENCE_MS } = {},
  ): Promise<ReplyOf<Rpcs[Name]>> =>
    bus.call(runtimeContract.rpcs[name], { params: {}, query: {}, headers: {}, body: {}, ...sent } as never, {
      caller: { kind: 'account', accountId, scopes: ['read', 'write', 'execute'] },
      requestId: randomUUID(),
      deadline: Date.now() + patience,
    }) as Promise<ReplyOf<Rpcs[Name]>>;
  const ask = <Name extends RpcName>(name: Name, request: unknown): Promise<ReplyOf<Rpcs[Name]>> =>
    bus.call(runtimeContract.rpcs[name], request as never, {
      caller: { kind: 'service', service: 'test' },
      requestId: randomUUID(),
      deadline: Date.now() + PATIENCE_MS,
    }) as Promise<ReplyOf<Rpcs[Name]>>;
  return { call, ask };
}

/** A deployment with the event `increment` bound, and how to speak to it. */
export async function plantDeployment({ call, catalog }: House, body: object = {}) {
  const world = { worldAddress: String(catalog.world.id) };
  const { data: deployment } = await call('deployments.create', {
    params: world,
    body: { name: 'Race day', bindings: [{ event: 'increment', eventVersion: 1 }], ...body },
  });
  const params = { ...world, address: deployment.address };
  return {
    deployment,
    params,
    execute: (input: object, sent: Sent = {}, event = 'increment') =>
      call('deployments.execute', { params, body: { event, input }, ...sent }),
    createCounter: (instanceId: string, state: JsonObject = {}) =>
      call('instances.create', { params, body: { entitySchema: 'counter', instanceId, state } }),
    counter: async (instanceId: string) =>
      (await call('instances.get', { params: { ...params, instanceId } })).data,
    history: async (query: Record<string, string> = {}) =>
      (await call('history.list', { params, query })).data,
    verify: async () => (await call('history.verify', { params })).data,
  };
}

export async function refusalOf(promise: Promise<unknown>): Promise<ServiceError> {
  const outcome = await promise.then(
    (reply) => new Error(`not refused but answered ${JSON.stringify(reply)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof ServiceError) return outcome;
  throw outcome;
}

/** What a service answers that has too much to do, or waits in vain for another one. */
const BUSY: readonly ErrorCode[] = ['overloaded', 'unavailable', 'deadline_exceeded'];

/** Asks again for as long as the service is too busy, as callers do. */
export async function untilTaken<T>(ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof ServiceError && BUSY.includes(error.code))) throw error;
    }
  }
}

/**
 * The refusal of a caller who waits in vain, a moment before its time is over. A busy machine may answer too late: who is told
 * that nothing came asks again, with more time.
 */
export async function refusedInVain(
  ask: (patience: number) => Promise<unknown>,
  patience = 2500,
): Promise<ServiceError> {
  const refused = await refusalOf(ask(patience));
  return refused.code === 'deadline_exceeded' ? refusedInVain(ask, 2 * patience) : refused;
}

export const codeOf = async (promise: Promise<unknown>): Promise<ErrorCode> =>
  (await refusalOf(promise)).code;
