/** Runs work while `start` has begun, until the signal that it was given aborts. */
export type WhileUsed = <T>(work: () => Promise<T>) => Promise<T>;

/** Starts something for the first who uses it and ends it after the last; who comes then starts it anew. */
export function createWhileUsed(start: (signal: AbortSignal) => Promise<void>): WhileUsed {
  let users = 0;
  let ending = new AbortController();
  let started = Promise.resolve();
  return async (work) => {
    if (users === 0) {
      ending = new AbortController();
      started = start(ending.signal);
    }
    users += 1;
    try {
      await started;
      return await work();
    } finally {
      users -= 1;
      if (users === 0) ending.abort();
    }
  };
}
