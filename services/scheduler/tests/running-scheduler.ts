import { randomUUID } from 'node:crypto';
import { type Bus, connectBus, createInProcessHub } from '@orrery/bus';
import {
  catalogChanged,
  lifecycleChanged,
  type OccurrenceRecord,
  occurrencesEnded,
  type ReplyOf,
  type ServiceError,
  schedulerContract,
} from '@orrery/contracts';
import { startScheduler } from '@orrery/scheduler';
import { type Clock, createHealth, createLogger, Resources } from '@orrery/service-kit';
import { createTestDatabase, FakeClock, PATIENT } from '@orrery/testing';
import { afterAll, vi } from 'vitest';
import { readSchedulerConfig } from '../src/config.js';
import { createFakeRuntime, usedOfCatalog, usedOfRuntime } from './fake-runtime.js';

type Rpcs = typeof schedulerContract.rpcs;
export type Scheduler = Awaited<ReturnType<typeof startScheduler>>;

/** Noon of a Sunday. */
export const NOON = Date.UTC(2030, 5, 2, 12);
export const MINUTE = 60_000;

/**
 * A database, a bus, a runtime and a catalog in memory, and a clock of the database that tests move, for one test file.
 * The clocks of processes stand still: what is due has to be looked for, by `due()` or `moveTo()`.
 */
export async function prepareHouse() {
  const resources = new Resources(PATIENT);
  afterAll(() => resources.release());
  const logger = createLogger({ service: 'test', level: 'error' });
  const clock = new FakeClock(NOON);
  let time = NOON;
  const { url: databaseUrl } = resources.use('test database', await createTestDatabase());
  const hub = createInProcessHub({ logger, clock });
  const busOf = async (service: string, processClock: Clock = clock) => {
    const bus = await connectBus({ url: 'inprocess', hub, service, logger, clock: processClock });
    resources.add(`bus of ${service}`, () => bus.close());
    return bus;
  };
  const fake = createFakeRuntime(() => time);
  await (await busOf('runtime')).serve(usedOfRuntime, fake.runtime);
  const catalogBus = await busOf('catalog');
  await catalogBus.serve(usedOfCatalog, fake.catalog);
  const client = await busOf('client');
  const schedulers: Scheduler[] = [];
  const standBy = oneReader();

  /** By default the process has the clock of all others. */
  const boot = async (config: object = {}, processClock: Clock = clock) => {
    const dependencies = {
      databaseUrl,
      bus: standBy(await busOf('scheduler', processClock)),
      clock: processClock,
      logger,
      health: createHealth({ clock: processClock }),
      databaseNow: async () => time,
    };
    const scheduler = resources.use(
      'scheduler',
      await startScheduler(dependencies, {
        ...readSchedulerConfig({}),
        // The clocks of processes stand still.
        perSecond: Number.POSITIVE_INFINITY,
        ...config,
      }),
    );
    schedulers.push(scheduler);
    return scheduler;
  };
  const settle = async () => {
    for (const scheduler of schedulers) {
      while ((await scheduler.syncs.loop.runOnce()) === 'more');
      for (;;) {
        const outcome = await scheduler.firing.loop.runOnce();
        await scheduler.firing.dispatcher.idle();
        if (outcome !== 'more') break;
      }
      await scheduler.firing.acknowledging.runOnce();
    }
  };
  const call = <Name extends keyof Rpcs>(
    name: Name,
    sent: Record<string, unknown>,
    accountId = 1,
  ): Promise<ReplyOf<Rpcs[Name]>> =>
    client.call(
      schedulerContract.rpcs[name],
      { params: {}, query: {}, headers: {}, body: {}, ...sent } as never,
      {
        caller: { kind: 'account', accountId, scopes: ['read', 'write', 'execute'] },
        requestId: randomUUID(),
        deadline: clock.monotonic() + 30_000,
      },
    ) as Promise<ReplyOf<Rpcs[Name]>>;
  const paramsOf = (address: string, event?: string) => ({
    worldAddress: fake.world.worldAddress,
    address,
    ...(event !== undefined && { event }),
  });

  return {
    clock,
    fake,
    boot,
    call,
    paramsOf,
    resources,
    schedulers,
    /** Runs every scheduler until nothing is to be done at this time. */
    settle,
    now: () => time,
    /** Moves the database's clock, and lets everything happen that is due then. */
    moveTo: async (at: number) => {
      time = at;
      await settle();
    },
    /** Moves it, and lets nothing happen. */
    jump: (ms: number) => {
      time += ms;
    },
    /** Moves it minute by minute. */
    pass: async (minutes: number) => {
      for (let n = 0; n < minutes; n += 1) {
        time += MINUTE;
        await settle();
      }
    },
    /** Tells the schedulers of a change, as the runtime does, and waits until they follow it. */
    hint: async (...deployments: string[]) => {
      await client.broadcast(lifecycleChanged, { deployments });
      for (const { syncs } of schedulers.slice(0, 1)) await syncs.want(deployments);
      await settle();
    },
    /** Tells the schedulers that runs have ended, as the runtime does. */
    tellEnded: (...occurrences: string[]) => client.broadcast(occurrencesEnded, { occurrences }),
    /** Tells of a changed version, as the catalog does. */
    announce: async (event: string) => {
      const fact = {
        ...fake.world,
        ownerAccountId: 1,
        subject: 'event_version' as const,
        name: event,
        version: 1,
        change: 'updated' as const,
        at: new Date(time).toISOString(),
      };
      await catalogBus.publish(catalogChanged, fact, { id: randomUUID() });
    },
    schedulesOf: async (address: string, accountId = 1) =>
      (await call('schedules.list', { params: paramsOf(address), query: {} }, accountId)).data,
    /** The ledger, oldest first. */
    ledgerOf: async (address: string, event: string, query: object = {}): Promise<OccurrenceRecord[]> => {
      const sent = { params: paramsOf(address, event), query: { limit: 100, ...query } };
      return (await call('occurrences.list', sent)).data.reverse();
    },
    until: (check: () => Promise<void> | void) =>
      vi.waitFor(async () => {
        await settle();
        await check();
      }),
  };
}

/** A hub in memory has one reader of a consumer: of several schedulers on it the first reads, the others stand by. */
function oneReader() {
  const reading = new Set<string>();
  return (bus: Bus): Bus => ({
    ...bus,
    consume: async (message, options) => {
      if (reading.has(options.consumer)) return;
      reading.add(options.consumer);
      await bus.consume(message, options);
    },
  });
}

export const refusalOf = (promise: Promise<unknown>): Promise<ServiceError> =>
  promise.then(
    (reply) => {
      throw new Error(`not refused but answered ${JSON.stringify(reply)}`);
    },
    (error: ServiceError) => error,
  );

/** What a ledger row says in short. */
export const inShort = ({ dueAt, status, reason, outcome, count }: OccurrenceRecord): string =>
  [
    dueAt.slice(11, 16),
    status,
    ...(reason === null ? [] : [reason]),
    ...(outcome === null ? [] : [outcome]),
    ...(count === 1 ? [] : [`×${count}`]),
  ].join(' ');
