import type { Clock } from '@orrery/service-kit';
import { takingOrder } from '../../store/leases/leases.js';

export interface MovingOptions {
  readonly outside: Pick<OutsideWork, 'isIdle' | 'setMoving'>;
  /** How long a partition that is to move waits for its work outside, in milliseconds. */
  readonly moveWithinMs: () => number;
  readonly clock: Pick<Clock, 'monotonic'>;
}

/**
 * Chooses which of the partitions held here are handed over, so that other processes have their share: those without work
 * outside first, from the end of the taking order. Where too few are idle, others are kept from beginning more, and are
 * chosen once they are idle, or have been waited for long enough.
 */
export function createChooseMoving({
  outside,
  moveWithinMs,
  clock,
}: MovingOptions): (mine: readonly number[], excess: number) => number[] {
  /** Since when each is waited for, in milliseconds of the monotonic clock. */
  let waiting = new Map<number, number>();
  return (mine, excess) => {
    const now = clock.monotonic();
    const isOverdue = (partition: number) => now - (waiting.get(partition) ?? now) >= moveWithinMs();
    const isReady = (partition: number) => outside.isIdle(partition) || isOverdue(partition);
    const inOrder = mine.toSorted((a, b) => takingOrder(b) - takingOrder(a));
    const chosen = inOrder.filter(isReady).slice(0, Math.max(0, excess));
    const awaited = inOrder
      .filter((partition) => !isReady(partition))
      .sort((a, b) => Number(waiting.has(b)) - Number(waiting.has(a)))
      .slice(0, Math.max(0, excess - chosen.length));
    waiting = new Map(awaited.map((partition) => [partition, waiting.get(partition) ?? now]));
    outside.setMoving([...chosen, ...awaited]);
    return chosen;
  };
}

export type OutsideWork = ReturnType<typeof createOutsideWork>;

/**
 * What runs wait for outside of the process: answers of models, settlements of payments. Its answer is lost when the
 * partition changes hands meanwhile, and the next owner asks (and pays) again. A partition that moves only for balance
 * therefore waits until none is under way in it, and no model is asked in it meanwhile.
 * `onIdle`: nothing is under way any more in a partition that is about to move.
 */
export function createOutsideWork(clock: Pick<Clock, 'sleep'>, onIdle: () => void) {
  const underWay = new Map<number, number>();
  /** Each is resolved when its partition stays after all. */
  const moving = new Map<number, PromiseWithResolvers<void>>();
  const add = (partition: number, count: 1 | -1) => {
    const left = (underWay.get(partition) ?? 0) + count;
    if (left > 0) underWay.set(partition, left);
    else underWay.delete(partition);
    if (left === 0 && moving.has(partition)) onIdle();
  };
  /** Work from its beginning until its answer is stored. */
  const during = async <T>(partition: number, work: () => Promise<T>): Promise<T> => {
    add(partition, 1);
    try {
      return await work();
    } finally {
      add(partition, -1);
    }
  };
  return {
    during,
    /**
     * The same, where the partition is not about to move. Otherwise resolves without it, once the partition stays after all
     * or `waitMs` milliseconds are over. @throws AbortError
     */
    unlessMoving: (
      partition: number,
      { waitMs, signal }: { readonly waitMs: number; readonly signal: AbortSignal },
      work: () => Promise<void>,
    ): Promise<void> => {
      const held = moving.get(partition);
      if (held === undefined) return during(partition, work);
      return resolvedWithin(Math.max(0, waitMs), held.promise, clock, signal);
    },
    isIdle: (partition: number): boolean => !underWay.has(partition),
    /** These partitions are about to move, and no others. */
    setMoving: (partitions: readonly number[]): void => {
      for (const [partition, { resolve }] of moving) {
        if (partitions.includes(partition)) continue;
        moving.delete(partition);
        resolve();
      }
      for (const partition of partitions)
        if (!moving.has(partition)) moving.set(partition, Promise.withResolvers());
    },
  };
}

async function resolvedWithin(
  ms: number,
  promise: Promise<void>,
  clock: Pick<Clock, 'sleep'>,
  signal: AbortSignal,
): Promise<void> {
  const done = new AbortController();
  const late = clock.sleep(ms, AbortSignal.any([signal, done.signal]));
  try {
    await Promise.race([promise, late]);
  } finally {
    done.abort();
    late.catch(() => undefined);
  }
}
