/** Counts the pieces of work in flight, by key. */
export interface InFlightCounter {
  begin(key: number): void;
  end(key: number): void;
  /** Resolves when no work of these keys is in flight. */
  untilNone(keys: readonly number[]): Promise<void>;
}

export function createInFlightCounter(): InFlightCounter {
  const counts = new Map<number, number>();
  let waiting: { keys: readonly number[]; resolve: () => void }[] = [];
  const isNone = (keys: readonly number[]) => keys.every((key) => !counts.get(key));
  return {
    begin: (key) => void counts.set(key, (counts.get(key) ?? 0) + 1),
    end: (key) => {
      counts.set(key, (counts.get(key) ?? 1) - 1);
      for (const { resolve } of waiting.filter(({ keys }) => isNone(keys))) resolve();
      waiting = waiting.filter(({ keys }) => !isNone(keys));
    },
    untilNone: (keys) =>
      new Promise<void>((resolve) => {
        if (isNone(keys)) resolve();
        else waiting.push({ keys, resolve });
      }),
  };
}
