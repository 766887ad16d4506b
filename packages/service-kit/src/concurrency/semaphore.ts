import { ServiceError } from '@orrery/contracts';

/** A counting semaphore: at most as many pieces of work run at once as it has slots. */
export interface Semaphore {
  readonly taken: number;
  readonly isFull: boolean;
  /** Takes a slot at once; the caller has checked `isFull`. */
  take(): void;
  release(): void;
  /** `undefined` while a slot is free; else resolves for all callers when the next slot is released. */
  untilFree(): Promise<void> | undefined;
  /**
   * Runs the work in a slot, in the order of the calls. Rejects with the signal's reason when it aborts before that, and
   * with `overloaded` when the queue is full or takes too long.
   */
  run<T>(signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export interface QueueLimits {
  /** Pieces of work that may wait for a slot. Default: any number. */
  readonly maxWaiting?: number;
  /** How long one may wait, in milliseconds. Default: for ever. */
  readonly maxWaitMs?: number;
}

/** Unlike in `p-limit` and `async-mutex`, a caller that goes away leaves the queue. */
export function createSemaphore(
  slots: number,
  { maxWaiting = Number.POSITIVE_INFINITY, maxWaitMs }: QueueLimits = {},
): Semaphore {
  let taken = 0;
  let watchers: (() => void)[] = [];
  const queue: (() => void)[] = [];
  const take = () => {
    taken += 1;
  };
  const release = () => {
    taken -= 1;
    const woken = watchers;
    watchers = [];
    for (const wake of woken) wake();
    queue.shift()?.();
  };
  const acquire = (signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      let timer: NodeJS.Timeout | undefined;
      const start = () => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        take();
        resolve();
      };
      const leave = (reason: unknown) => {
        clearTimeout(timer);
        signal.removeEventListener('abort', giveUp);
        queue.splice(queue.indexOf(start), 1);
        reject(reason);
      };
      const giveUp = () => leave(signal.reason);
      if (signal.aborted) return reject(signal.reason);
      if (taken < slots) return start();
      if (queue.length >= maxWaiting) return reject(new ServiceError('overloaded'));
      signal.addEventListener('abort', giveUp, { once: true });
      queue.push(start);
      if (maxWaitMs !== undefined) timer = setTimeout(() => leave(new ServiceError('overloaded')), maxWaitMs);
    });
  return {
    get taken() {
      return taken;
    },
    get isFull() {
      return taken >= slots;
    },
    take,
    release,
    untilFree: () => (taken < slots ? undefined : new Promise((resolve) => watchers.push(resolve))),
    run: async (signal, work) => {
      await acquire(signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
