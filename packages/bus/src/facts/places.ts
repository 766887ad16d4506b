/** A bounded number of pieces of work under way. */
export interface Places {
  readonly free: number;
  take(work: Promise<void>): void;
  /** Resolves when at least half of the places are free. */
  untilHalfFree(): Promise<void>;
  /** Resolves when nothing is under way. */
  untilEmpty(): Promise<void>;
}

/** `work` never rejects. */
export function createPlaces(count: number): Places {
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
