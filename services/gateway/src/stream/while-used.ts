/** Does work while a shared resource is started. */
export type WhileUsed = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Starts a resource for its first user and ends it, by the signal, after the last one. The work does not wait for the
 * start and continues without the resource. A failed start is reported to `onFailed`; the next user tries again.
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
