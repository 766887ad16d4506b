/** Does work while something is on that helps it. */
export type WhileUsed = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Begins something for the first who uses it and ends it, by the signal, after the last. Nobody waits for it: work that it
 * helps goes on without it. When it could not begin, `onFailed` is told, and the next who comes tries again.
 */
export function createWhileUsed(
  start: (signal: AbortSignal) => Promise<void>,
  onFailed: (error: unknown) => void,
): WhileUsed {
  let users = 0;
  let current: AbortController | undefined;
  const end = () => {
    current?.abort();
    current = undefined;
  };
  const begin = () => {
    const mine = new AbortController();
    current = mine;
    start(mine.signal).catch((error: unknown) => {
      if (current !== mine) return;
      end();
      onFailed(error);
    });
  };
  return async (work) => {
    users += 1;
    if (current === undefined) begin();
    try {
      return await work();
    } finally {
      users -= 1;
      if (users === 0) end();
    }
  };
}
