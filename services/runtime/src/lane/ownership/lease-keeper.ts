import { defineMessage } from '@orrery/contracts';
import {
  type Clock,
  createBatcher,
  createMeter,
  createSemaphore,
  type Logger,
  startPollLoop,
} from '@orrery/service-kit';
import { z } from 'zod';
import { type Disagreement, disagreements, type Home } from '../../store/leases/homes.js';
import {
  acquire,
  announce,
  type Balance,
  giveBack,
  type HeldPartitions,
  leave,
  PARTITIONS,
  readBalance,
  renew,
} from '../../store/leases/leases.js';
import type { Db } from '../../store/tables/schema.js';
import { ObservedLeases } from './observed-leases.js';
import { createChooseMoving, type MovingOptions } from './outside-work.js';

/** Broadcast among the runtime's processes: there are partitions to take. A lost one delays a takeover by a third of the lease's time. */
export const partitionsFreed = defineMessage('runtime', 'partitions-freed', z.object({ by: z.string() }));

export interface LeaseKeeperOptions extends MovingOptions {
  readonly db: Db;
  readonly instance: string;
  /** A lease that is not renewed for this long may be taken by any process, in milliseconds. */
  readonly ttlMs: number;
  readonly held: HeldPartitions;
  /** Refuses what is not being committed of these partitions; resolves when nothing of them is being committed. */
  readonly drained: (partitions: readonly number[]) => Promise<void>;
  /** The partitions that live in this database, by the directory. Only what lives here is taken. */
  readonly homes: () => Promise<readonly Home[]>;
  /** What is to be told where directory and database disagree. */
  readonly explain: (differing: readonly Disagreement[]) => string;
  /** Told at each balance which partitions of the database have an owner. */
  readonly onBalance: (owned: ReadonlySet<number>) => void;
  /** Notifies the other processes that there are partitions to take. */
  readonly announceFree: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

const RENEW_AGAIN_MS = 250;
/** A commit may keep a partition from being given back for this long, in milliseconds. */
const DRAIN_MS = 250;
/** Waited beyond the end of a lease, and before a partition that could not be taken is tried again, in milliseconds. */
const MARGIN_MS = 50;

/**
 * Keeps this process's share of the partitions that live in its database: ceil(partitions / live processes).
 *
 *   free ─ acquire (epoch + 1) ─→ held ─ renew every third of the TTL ─→ held
 *   held ─ more than the share ─→ held, no model is asked ─ nothing under way outside ─→ draining
 *   held ─ stop ─→ draining ─ nothing being committed ─→ given back (free)
 *   held ─ not renewed in time ─→ free for others; lost here: its states in memory are forgotten
 *
 * Renewal has a loop of its own, so that no handover keeps it waiting; each partition is handed over by itself.
 */
export function startLeaseKeeper(options: LeaseKeeperOptions) {
  const { db, instance, ttlMs, held, clock, logger } = options;
  /** Statements that change which leases are held; each is short. */
  const turns = createSemaphore(1);
  const inTurn = <T>(work: () => Promise<T>) => turns.run(NEVER, work);
  const handOver = createHandover(options, inTurn);
  const chooseMoving = createChooseMoving(options);
  const stopping = new AbortController();
  const observed = createObserver(options);
  const withoutDisagreeing = createWithoutDisagreeing(options);

  const renewal = startPollLoop({
    name: 'lease renewal',
    intervalMs: ttlMs / 3,
    maxBackoffMs: RENEW_AGAIN_MS,
    clock,
    logger,
    runOnce: async () => {
      await inTurn(async () => {
        if (!stopping.signal.aborted) await announce(db, instance, ttlMs);
        await renewHeld(options);
      });
      return 'idle';
    },
  });
  const keepShare = async () => {
    const { others, live, leftMs } = observed(await readBalance(db, instance));
    const mine = held.all().map(({ partition }) => partition);
    const share = Math.ceil((others.length + mine.length) / live);
    const missing = share - mine.length;
    const moving = chooseMoving(mine, -missing);
    if (moving.length > 0) await handOver(moving);
    const homes = missing > 0 ? await options.homes() : [];
    const wanted = missing > 0 ? withoutDisagreeing(others, homes, leftMs) : others;
    const over = wanted.filter(({ partition }) => leftMs(partition) === 0);
    const taken =
      missing > 0 ? await inTurn(() => acquire(db, instance, ttlMs, { limit: missing, over, homes })) : [];
    held.hold(taken);
    const elsewhere = others.filter(({ partition }) => leftMs(partition) > 0);
    options.onBalance(new Set([...held.all(), ...elsewhere].map(({ partition }) => partition)));
    // Until a partition that is not held here is free, in milliseconds; 0 when one is, null when all are held here.
    const freeInMs =
      wanted.length === 0 ? null : Math.min(...wanted.map(({ partition }) => leftMs(partition)));
    if (freeInMs === null || freeInMs > ttlMs / 3) return;
    if (freeInMs === 0 && taken.length >= missing) return;
    // An owner has died: its leases end before the next regular run. Or a commit keeps a free partition locked.
    const wake = () => balance.wake();
    clock.sleep(freeInMs + MARGIN_MS, stopping.signal).then(wake, () => undefined);
  };
  const balance = startPollLoop({
    name: 'partition balance',
    intervalMs: ttlMs / 3,
    maxBackoffMs: ttlMs / 3,
    clock,
    logger,
    runOnce: async () => {
      await keepShare();
      return 'idle';
    },
  });
  const stop = async () => {
    stopping.abort();
    await balance.stop();
    // Before the partitions are free, so that the processes that take them do not count this one.
    await inTurn(() => leave(db, instance));
    await handOver(held.all().map(({ partition }) => partition));
    await renewal.stop();
  };
  let stopped: Promise<void> | undefined;
  return {
    /** Balances now, for instance because another process has given partitions back. */
    wake: balance.wake,
    /** Renews, then balances. */
    runOnce: async (): Promise<void> => {
      await renewal.runOnce();
      await balance.runOnce();
    },
    /** Hands everything over: drains, gives back, leaves. Repeated calls share one stop. */
    stop: (): Promise<void> => {
      stopped ??= stop();
      return stopped;
    },
  };
}

export type LeaseKeeper = ReturnType<typeof startLeaseKeeper>;

const NEVER = new AbortController().signal;

function createObserver({ instance, ttlMs, clock }: LeaseKeeperOptions) {
  const [partitions, processes] = [new ObservedLeases(clock, ttlMs), new ObservedLeases(clock, ttlMs)];
  return ({ others, members }: Balance) => {
    const left = partitions.observe(new Map(others.map((one) => [String(one.partition), one])));
    const alive = processes.observe(new Map(members.map((one) => [one.instance, one])));
    return {
      /** Live processes, this one included. */
      live: 1 + [...alive].filter(([name, ms]) => name !== instance && ms > 0).length,
      others,
      /** Until the lease of another process ends, in milliseconds. */
      leftMs: (partition: number): number => left.get(String(partition)) ?? 0,
    };
  };
}

/**
 * Leaves out partitions that may not be taken: by the directory they live elsewhere, or it disagrees. Tells of these once, if
 * nobody has them: an owner may have raised its generations since the database was read.
 */
function createWithoutDisagreeing({ logger, explain }: LeaseKeeperOptions) {
  let told = '';
  return (
    others: Balance['others'],
    homes: readonly Home[],
    leftMs: (partition: number) => number,
  ): Balance['others'] => {
    const names = new Set(homes.map(({ partition }) => partition));
    const here = others.filter(({ partition }) => names.has(partition));
    const free = new Set(here.map(({ partition }) => partition));
    const differing = disagreements(
      homes.filter(({ partition }) => free.has(partition)),
      here,
    );
    const unowned = differing.filter(({ partition }) => leftMs(partition) === 0);
    const text = unowned.length === 0 ? '' : explain(unowned);
    if (text !== '' && text !== told)
      logger.error({ partitions: unowned.length }, `deployments are without owner: ${text}`);
    told = text;
    const bad = new Set(differing.map(({ partition }) => partition));
    return here.filter(({ partition }) => !bad.has(partition));
  };
}

async function renewHeld({ db, instance, ttlMs, held }: LeaseKeeperOptions): Promise<void> {
  const before = held.all();
  const renewed = await renew(db, instance, ttlMs);
  const still = new Set(renewed.map(({ partition }) => partition));
  held.dropLost(before.filter(({ partition }) => !still.has(partition)));
  held.hold(renewed);
}

/** Hands partitions over, each as soon as nothing of it is being committed; those of one moment in one statement. */
function createHandover(
  { db, instance, held, drained, announceFree, clock, logger }: LeaseKeeperOptions,
  inTurn: <T>(work: () => Promise<T>) => Promise<T>,
): (partitions: readonly number[]) => Promise<void> {
  const durations = createMeter('runtime').createHistogram('orrery_runtime_handover', {
    unit: 'ms',
    description: 'Time from the decision to hand a partition over until it was free',
  });
  const release = createBatcher<number, undefined>({
    maxBatch: PARTITIONS,
    load: async (partitions) => {
      await inTurn(() => {
        held.drop(partitions);
        return giveBack(db, instance, partitions);
      });
      await announceFree().catch((error: unknown) =>
        logger.debug({ err: error }, 'the handover could not be broadcast'),
      );
      return partitions.map(() => undefined);
    },
  });
  const handOverOne = async (partition: number) => {
    const startedAt = performance.now();
    const done = new AbortController();
    const late = clock.sleep(DRAIN_MS, done.signal).then(
      () => logger.info({ partition, ms: DRAIN_MS }, 'a partition is handed over during a commit'),
      () => undefined,
    );
    await Promise.race([drained([partition]), late]);
    done.abort();
    await release(partition);
    durations.record(performance.now() - startedAt);
  };
  return async (partitions) => {
    held.drain(partitions);
    await Promise.all(partitions.map(handOverOne));
  };
}
