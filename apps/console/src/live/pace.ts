/** Hands things on in groups: the first at once, those that follow at most every `ms`. */
export function createPace<T>(ms: number, handOn: (items: readonly T[]) => void) {
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
    add: (item: T) => {
      waiting.push(item);
      if (timer === undefined) flush();
    },
    /** What still waits is dropped. */
    stop: () => {
      clearTimeout(timer);
      waiting = [];
    },
  };
}
