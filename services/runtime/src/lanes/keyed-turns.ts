/** One piece of work at a time per key; the others wait in order. */
export type KeyedTurns = <T>(key: number, work: () => Promise<T>) => Promise<T>;

export function createKeyedTurns(): KeyedTurns {
  const last = new Map<number, Promise<unknown>>();
  return async (key, work) => {
    const turn = (last.get(key) ?? Promise.resolve()).then(work);
    const settled = turn.catch(() => undefined);
    last.set(key, settled);
    try {
      return await turn;
    } finally {
      if (last.get(key) === settled) last.delete(key);
    }
  };
}
