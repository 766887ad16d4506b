import { randomUUID } from 'node:crypto';
import { type Bus, connectBus, createInProcessHub } from '@orrery/bus';
import {
  type CatalogConfig,
  type CatalogLimits,
  type RunningCatalog,
  readCatalogConfig,
  startCatalog,
} from '@orrery/catalog';
import {
  type AccountState,
  accountContract,
  catalogContract,
  type ErrorCode,
  type JsonValue,
  type ReplyOf,
  ServiceError,
} from '@orrery/contracts';
import { createHealth, createLogger, Resources } from '@orrery/service-kit';
import { createTestDatabase, FakeClock, PATIENT } from '@orrery/testing';
import { afterAll } from 'vitest';
import type { z } from 'zod';

type Rpcs = typeof catalogContract.rpcs;
export type RpcName = keyof Rpcs;
type Reply<Name extends RpcName> = ReplyOf<Rpcs[Name]>;
type Request<Name extends RpcName> = z.input<Rpcs[Name]['request']>;

/** A public request with the members that it leaves out. */
export interface Sent {
  params?: Record<string, unknown>;
  query?: Record<string, unknown>;
  headers?: Record<string, unknown>;
  body?: unknown;
}

export const OWNER = 1;
export const OTHER = 2;

type StartOptions = Omit<Partial<CatalogConfig>, 'limits'> & {
  limits?: Partial<CatalogLimits>;
  askHeld?: Parameters<typeof startCatalog>[0]['askHeld'];
};

export type RunningTestCatalog = Awaited<ReturnType<typeof bootCatalog>>;

/** A catalog on a database and a bus of its own, for one test file; it ends with the file. */
export async function bootCatalog({ askHeld, ...overrides }: StartOptions = {}) {
  const resources = new Resources(PATIENT);
  afterAll(() => resources.release());
  const logger = createLogger({ service: 'test', level: 'error' });
  const clock = new FakeClock(Date.now());
  const { url: databaseUrl } = resources.use('test database', await createTestDatabase());
  const hub = createInProcessHub({ logger, clock });
  const bus = await connectBus({ url: 'inprocess', hub, service: 'catalog', logger, clock });
  resources.add('bus', () => bus.close());
  const accounts = new Map<number, AccountState>();
  await bus.serve(accountContract, {
    'accounts.states': async ({ afterId, limit }) => ({
      states: [...accounts.values()].filter(({ accountId }) => accountId > afterId).slice(0, limit),
    }),
  });
  const health = createHealth({ clock });
  const defaults = readCatalogConfig({});
  const config = { ...defaults, ...overrides, limits: { ...defaults.limits, ...overrides.limits } };
  const dependencies = { databaseUrl, bus, clock, logger, health, ...(askHeld && { askHeld }) };
  const catalog = resources.use('catalog', await startCatalog(dependencies, config));
  const { pool, db } = catalog.database;
  return {
    ...callers(bus, clock),
    ...catalog,
    databaseUrl,
    accounts,
    pool,
    db,
    bus,
    clock,
    watchStatements: watcherOf(pool),
  };
}

type Watch = (sql: string, parameters: readonly unknown[]) => void;

/** Shows every statement of the catalog's pool to a test, until it is told to stop. */
function watcherOf(pool: RunningCatalog['database']['pool']) {
  const watchers = new Set<Watch>();
  const watched = new WeakSet<object>();
  pool.on('acquire', (client) => {
    if (watched.has(client)) return;
    watched.add(client);
    const query = client.query.bind(client) as (...sent: unknown[]) => unknown;
    const shown = (...sent: unknown[]) => {
      const [sql, parameters] = sent;
      const { text, values } = asQuery(sql, parameters);
      for (const watch of watchers) watch(text, values ?? []);
      return query(...sent);
    };
    Object.assign(client, { query: shown });
  });
  return (watch: Watch) => {
    watchers.add(watch);
    return () => watchers.delete(watch);
  };
}

/** Both forms in which the driver is asked: a text with parameters, and a prepared statement. */
const asQuery = (sql: unknown, parameters: unknown): { text: string; values?: unknown[] } =>
  typeof sql === 'string'
    ? { text: sql, ...(Array.isArray(parameters) && { values: parameters }) }
    : (sql as { text: string; values?: unknown[] });

function callers(bus: Bus, clock: FakeClock) {
  const send = <Name extends RpcName>(
    name: Name,
    request: unknown,
    accountId: number,
  ): Promise<Reply<Name>> =>
    bus.call(catalogContract.rpcs[name], request as never, {
      caller: { kind: 'account', accountId, scopes: ['read', 'write'] },
      requestId: randomUUID(),
      deadline: clock.monotonic() + 30_000,
    }) as Promise<Reply<Name>>;
  return {
    /** A public operation, as the gateway would send it. */
    call: <Name extends RpcName>(name: Name, sent: Sent = {}, accountId = OWNER) =>
      send(name, { params: {}, query: {}, headers: {}, body: {}, ...sent }, accountId),
    /** What other services ask. */
    ask: <Name extends RpcName>(name: Name, request: Request<Name>, accountId = OWNER) =>
      send(name, request, accountId),
  };
}

/** The code that a promise is refused with; fails when it is not refused. */
export async function codeOf(promise: Promise<unknown>): Promise<ErrorCode> {
  return (await refusalOf(promise)).code;
}

export async function refusalOf(promise: Promise<unknown>): Promise<ServiceError> {
  const outcome = await promise.then(
    (reply) => new Error(`not refused but answered ${JSON.stringify(reply)}`),
    (error: unknown) => error,
  );
  if (outcome instanceof ServiceError) return outcome;
  throw outcome;
}

/** Names that differ in every test. */
export const unique = (what: string): string => `${what} ${randomUUID().slice(0, 8)}`;

export const deploymentAddress = (): string =>
  `0x${randomUUID().replaceAll('-', '')}${randomUUID().slice(0, 8)}`;

/** A world with a schema, an event and its version 1, as most tests need it. */
export async function plantWorld({ call }: Pick<RunningTestCatalog, 'call'>) {
  const { data: world } = await call('worlds.create', {
    body: { name: unique('Derby'), promptSeed: 'Horses race.' },
  });
  const inWorld = { worldAddress: world.address };
  const attributes = [
    { name: 'wins', type: 'integer', defaultValue: 0, constraints: { min: 0 } },
    { name: 'speed', type: 'float' },
  ];
  const { data: schema } = await call('entitySchemas.create', {
    params: inWorld,
    body: { name: 'horse', description: 'Runs', attributes },
  });
  const { data: event } = await call('events.create', {
    params: inWorld,
    body: { name: 'race', firstVersion: raceVersion },
  });
  return { world, schema, event, inWorld };
}

export const raceVersion = {
  inputSchema: { winner: 'string', horses: 'string[]' },
  readEntities: [{ schema: 'horse', filter: ['horses'] }],
  stateChanges: { horse: 'partial' },
  mutationSettings: {
    mode: 'direct',
    template: { 'horse:{{input.winner}}': { wins: { $increment: 1 } } },
  },
  executionSettings: { visibility: 'public', priceUsd: 0.5 },
} as const satisfies Record<string, JsonValue | readonly JsonValue[] | object>;
