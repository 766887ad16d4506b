import { defineMessage } from '@orrery/contracts';
import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import { z } from 'zod';
import type { Db } from '../database/db.js';
import { acquire, announce, giveBack, leave, renew } from './lease-store.js';
import { type HeldPartitions, PARTITIONS } from './partitions.js';

/** Broadcast among the runtime's processes: there are partitions to take. A lost one delays a takeover by a third of the lease's time. */
export const partitionsFreed = defineMessage('runtime', 'partitions-freed', z.object({ by: z.string() }));

export interface LeaseKeeperOptions {
  readonly db: Db;
  readonly instance: string;
  /** A lease that is not renewed for this long may be taken by any process, in milliseconds. */
  readonly ttlMs: number;
  readonly held: HeldPartitions;
  /** Resolves when nothing of these partitions is queued or being committed. */
  readonly drained: (partitions: readonly number[]) => Promise<void>;
  /** Notifies the other processes that there are partitions to take. */
  readonly announceFree: () => Promise<void>;
  readonly clock: Clock;
  readonly logger: Logger;
}

export interface LeaseKeeper {
  /** Runs now, for instance because another process has given partitions back. */
  wake(): void;
  runOnce(): Promise<unknown>;
  /** Hands everything over: drains, gives back, leaves. */
  stop(): Promise<void>;
}

/**
 * Keeps this process's share of the partitions: ceil(64 / live processes).
 *
 *   free ─ acquire (epoch + 1) ─→ held ─ renew every third of the TTL ─→ held
 *   held ─ more than the share, or stop ─→ draining ─ nothing queued ─→ given back (free)
 *   held ─ not renewed in time ─→ free for others; lost here: its states in memory are forgotten
 */
export function startLeaseKeeper(options: LeaseKeeperOptions): LeaseKeeper {
  const { ttlMs, clock, logger } = options;
  const loop: PollLoop = startPollLoop({
    name: 'partition leases',
    intervalMs: ttlMs / 3,
    maxBackoffMs: ttlMs / 3,
    clock,
    logger,
    runOnce: async () => {
      await keepShare(options);
      return 'idle';
    },
  });
  return {
    wake: loop.wake,
    runOnce: loop.runOnce,
    stop: async () => {
      await loop.stop();
      // Before the partitions are free, so that the processes that take them do not count this one.
      await leave(options.db, options.instance);
      await handOver(
        options,
        options.held.all().map(({ partition }) => partition),
      );
    },
  };
}

async function keepShare(options: LeaseKeeperOptions): Promise<void> {
  const { db, instance, ttlMs, held } = options;
  const live = await announce(db, instance, ttlMs);
  const share = Math.ceil(PARTITIONS / live);
  const renewed = await renew(db, instance, ttlMs);
  const still = new Set(renewed.map(({ partition }) => partition));
  held.drop(
    held
      .all()
      .map(({ partition }) => partition)
      .filter((partition) => !still.has(partition)),
  );
  held.hold(renewed);
  if (renewed.length > share) {
    await handOver(
      options,
      renewed.slice(share).map(({ partition }) => partition),
    );
  } else if (renewed.length < share) {
    held.hold(await acquire(db, instance, ttlMs, share - renewed.length));
  }
}

async function handOver(options: LeaseKeeperOptions, partitions: readonly number[]): Promise<void> {
  if (partitions.length === 0) return;
  const { db, instance, held, drained, announceFree, logger } = options;
  held.drain(partitions);
  await drained(partitions);
  held.drop(partitions);
  await giveBack(db, instance, partitions);
  await announceFree().catch((error: unknown) =>
    logger.debug({ err: error }, 'the handover could not be broadcast'),
  );
}
