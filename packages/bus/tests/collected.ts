/** What has come so far, and a way to wait for more of it. */
export interface Collected<T> {
  readonly items: readonly T[];
  add(item: T): void;
  /** Resolves with the items once there are that many. */
  atLeast(count: number): Promise<readonly T[]>;
}

export function collect<T>(): Collected<T> {
  const items: T[] = [];
  let waiters: { count: number; resolve: (items: readonly T[]) => void }[] = [];
  return {
    items,
    add: (item) => {
      items.push(item);
      for (const { count, resolve } of waiters) if (items.length >= count) resolve([...items]);
      waiters = waiters.filter(({ count }) => items.length < count);
    },
    atLeast: (count) =>
      items.length >= count
        ? Promise.resolve([...items])
        : new Promise((resolve) => waiters.push({ count, resolve })),
  };
}

/** A promise with its handles. */
export function deferred<T = void>() {
  let resolve: (value: T) => void = () => undefined;
  const promise = new Promise<T>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
