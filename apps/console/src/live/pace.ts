/** Hands things on in groups: the first at once, those that follow at most every `ms`. */
export interface Pace<T> {
  add(item: T): void;
  /** What still waits is dropped. */
  stop(): void;
}

export function createPace<T>(ms: number, handOn: (items: readonly T[]) => void): Pace<T> {
  let waiting: T[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const flush = () => {
    timer = undefined;
    if (waiting.length === 0) return;
    const items = waiting;
    waiting = [];
    timer = setTimeout(flush, ms);
    handOn(items);
  };
  return {
    add: (item) => {
      waiting.push(item);
      if (timer === undefined) flush();
    },
    stop: () => {
      clearTimeout(timer);
      waiting = [];
    },
  };
}
