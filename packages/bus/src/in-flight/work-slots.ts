/** A bounded number of deliveries in work. Unlike a semaphore it waits until half of the slots are free. */
export interface WorkSlots {
  readonly free: number;
  take(work: Promise<void>): void;
  /** Resolves when at least half of the slots are free. */
  untilHalfFree(): Promise<void>;
  /** Resolves when no work is under way. */
  untilEmpty(): Promise<void>;
}

/** `work` never rejects. */
export function createWorkSlots(count: number): WorkSlots {
  const underWay = new Set<Promise<void>>();
  const until = async (most: number) => {
    while (underWay.size > most) await Promise.race(underWay);
  };
  return {
    get free() {
      return count - underWay.size;
    },
    take: (work) => {
      const tracked = work.finally(() => underWay.delete(tracked));
      underWay.add(tracked);
    },
    untilHalfFree: () => until(Math.floor(count / 2)),
    untilEmpty: () => until(0),
  };
}
