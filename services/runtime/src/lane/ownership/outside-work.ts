import type { Clock } from '@orrery/service-kit';

/**
 * What runs wait for outside of the process: answers of models, settlements of payments. Its answer is lost when the
 * partition changes hands meanwhile, and the next owner asks (and pays) again. A partition that moves only for balance
 * therefore waits until none is under way in it, and no model is asked in it meanwhile.
 */
export interface OutsideWork {
  /** Work from its beginning until its answer is stored. */
  during<T>(partition: number, work: () => Promise<T>): Promise<T>;
  /**
   * The same, where the partition is not about to move. Otherwise resolves without it, once the partition stays after all
   * or `waitMs` milliseconds are over. @throws AbortError
   */
  unlessMoving(
    partition: number,
    wait: { readonly waitMs: number; readonly signal: AbortSignal },
    work: () => Promise<void>,
  ): Promise<void>;
  isIdle(partition: number): boolean;
  /** These partitions are about to move, and no others. */
  setMoving(partitions: readonly number[]): void;
}

interface Moving {
  readonly stays: Promise<void>;
  readonly stay: () => void;
}

/** `onIdle`: nothing is under way any more in a partition that is about to move. */
export function createOutsideWork(clock: Pick<Clock, 'sleep'>, onIdle: () => void): OutsideWork {
  const underWay = new Map<number, number>();
  const moving = new Map<number, Moving>();
  const add = (partition: number, count: 1 | -1) => {
    const left = (underWay.get(partition) ?? 0) + count;
    if (left > 0) underWay.set(partition, left);
    else underWay.delete(partition);
    if (left === 0 && moving.has(partition)) onIdle();
  };
  const during: OutsideWork['during'] = async (partition, work) => {
    add(partition, 1);
    try {
      return await work();
    } finally {
      add(partition, -1);
    }
  };
  return {
    during,
    unlessMoving: (partition, { waitMs, signal }, work) => {
      const held = moving.get(partition);
      if (held === undefined) return during(partition, work);
      return resolvedWithin(Math.max(0, waitMs), held.stays, clock, signal);
    },
    isIdle: (partition) => !underWay.has(partition),
    setMoving: (partitions) => {
      for (const [partition, { stay }] of moving) {
        if (partitions.includes(partition)) continue;
        moving.delete(partition);
        stay();
      }
      for (const partition of partitions) if (!moving.has(partition)) moving.set(partition, beginMoving());
    },
  };
}

function beginMoving(): Moving {
  let stay = () => {};
  const stays = new Promise<void>((resolve) => {
    stay = resolve;
  });
  return { stays, stay };
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
