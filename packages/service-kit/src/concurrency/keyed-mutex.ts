/** Runs one piece of work at a time per key; others of the same key wait in order. */
export interface KeyedMutex {
  run<T>(key: number, work: () => Promise<T>): Promise<T>;
}

/** Keys without work take no memory. (The mutexes of `async-mutex` have no keys: a map of them would need this as well.) */
export function createKeyedMutex(): KeyedMutex {
  const last = new Map<number, Promise<unknown>>();
  return {
    run: async (key, work) => {
      const result = (last.get(key) ?? Promise.resolve()).then(work);
      const settled = result.catch(() => undefined);
      last.set(key, settled);
      try {
        return await result;
      } finally {
        if (last.get(key) === settled) last.delete(key);
      }
    },
  };
}
