import { ServiceError } from '@orrery/contracts';

/** Loads the result of one request together with those of others. */
export type Batcher<Request, Result> = (request: Request) => Promise<Result>;

interface BatcherOptions<Request, Result> {
  /** Requests in one call at most. */
  readonly maxBatch: number;
  /** One call for many requests; it returns their results in the order of the requests. */
  readonly load: (requests: readonly Request[]) => Promise<readonly Result[]>;
  /** Requests with equal keys share one result while they wait. By default the request itself is the key. */
  readonly keyOf?: (request: Request) => unknown;
  /** Distinct requests that may wait; further ones are refused with `overloaded`. Unbounded by default. */
  readonly maxWaiting?: number;
  /** Each call waits for this first; requests that arrive meanwhile still share the call. */
  readonly ready?: () => Promise<void> | undefined;
  /** Another call begins beside one that takes longer than this, in milliseconds. By default none does. */
  readonly overdueMs?: number;
}

/** Calls of one batcher at most, where some are overdue. */
const MOST_CALLS = 8;

interface Waiting<Request, Result> extends PromiseWithResolvers<Result> {
  readonly request: Request;
}

/**
 * Answers many requests with few calls. One call is in flight at a time, unless it is overdue, and requests that arrive
 * meanwhile share the next one. A result is therefore never older than its request. (`dataloader` sends calls side by side and caches.)
 */
export function createBatcher<Request, Result>({
  maxBatch,
  load,
  keyOf = (request) => request,
  maxWaiting = Number.POSITIVE_INFINITY,
  ready = () => undefined,
  overdueMs,
}: BatcherOptions<Request, Result>): Batcher<Request, Result> {
  let waiting = new Map<unknown, Waiting<Request, Result>>();
  let loading = false;
  const calls = new Set<Promise<void>>();

  const loadAll = async () => {
    while (waiting.size > 0) {
      await ready();
      const call = settle(takeSome(), load);
      await (overdueMs === undefined ? call : settledOrOverdue(call, overdueMs));
    }
    loading = false;
  };
  const settledOrOverdue = async (call: Promise<void>, ms: number) => {
    calls.add(call);
    const { promise: overdue, resolve } = Promise.withResolvers<void>();
    // A timer of its own, since it only says when the next call may begin: no caller's time depends on it.
    const timer = setTimeout(resolve, ms);
    await Promise.race([call.finally(() => calls.delete(call)), overdue]);
    clearTimeout(timer);
    while (calls.size >= MOST_CALLS) await Promise.race(calls);
  };
  // The rest goes into a new map: one that requests enter and leave all the time would keep them alive (`Slots`).
  const takeSome = () => {
    const all = [...waiting];
    waiting = new Map(all.slice(maxBatch));
    return all.slice(0, maxBatch).map(([, one]) => one);
  };
  return (request) => {
    const key = keyOf(request);
    const equal = waiting.get(key);
    if (equal !== undefined) return equal.promise;
    if (waiting.size >= maxWaiting) return Promise.reject(new ServiceError('overloaded'));
    const one = { request, ...Promise.withResolvers<Result>() };
    waiting.set(key, one);
    if (!loading) {
      loading = true;
      // Requests of the same turn of the event loop share the call.
      setImmediate(() => void loadAll());
    }
    return one.promise;
  };
}

async function settle<Request, Result>(
  batch: readonly Waiting<Request, Result>[],
  load: BatcherOptions<Request, Result>['load'],
): Promise<void> {
  try {
    const results = await load(batch.map(({ request }) => request));
    // `load` returns a result for every request, in order.
    for (const [index, { resolve }] of batch.entries()) resolve(results[index] as Result);
  } catch (error) {
    for (const { reject } of batch) reject(error);
  }
}

export type Semaphore = ReturnType<typeof createSemaphore>;

interface QueueLimits {
  /** Pieces of work that may wait for a slot. Default: any number. */
  readonly maxWaiting?: number;
  /** How long one may wait, in milliseconds. Default: for ever. */
  readonly maxWaitMs?: number;
}

/**
 * A counting semaphore: at most as many pieces of work run at once as it has slots. Unlike in `p-limit` and `async-mutex`, a
 * caller that goes away leaves the queue.
 */
export function createSemaphore(
  slots: number,
  { maxWaiting = Number.POSITIVE_INFINITY, maxWaitMs }: QueueLimits = {},
) {
  let taken = 0;
  let watchers: (() => void)[] = [];
  const queue = new Set<() => void>();
  const take = () => {
    taken += 1;
  };
  const release = () => {
    taken -= 1;
    const woken = watchers;
    watchers = [];
    for (const wake of woken) wake();
    const [next] = queue;
    if (next !== undefined) next();
  };
  /**
   * Takes a slot in the order of the calls. Rejects with the signal's reason when it aborts before that, and with
   * `overloaded` when the queue is full or takes too long.
   */
  const acquire = async (signal: AbortSignal): Promise<void> => {
    signal.throwIfAborted();
    if (taken < slots) return take();
    if (queue.size >= maxWaiting) throw new ServiceError('overloaded');
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const start = () => {
      queue.delete(start);
      take();
      resolve();
    };
    // What has started has left the queue: then this does nothing.
    const leave = (reason: unknown) => void (queue.delete(start) && reject(reason));
    const giveUp = () => leave(signal.reason);
    const late = () => leave(new ServiceError('overloaded'));
    const timer = maxWaitMs === undefined ? undefined : setTimeout(late, maxWaitMs);
    signal.addEventListener('abort', giveUp, { once: true });
    queue.add(start);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', giveUp);
    }
  };
  return {
    get taken() {
      return taken;
    },
    get isFull() {
      return taken >= slots;
    },
    /** How many wait for a slot. */
    get waiting() {
      return queue.size;
    },
    /** Takes a slot at once; the caller has checked `isFull`. */
    take,
    release,
    /** `undefined` while a slot is free; else resolves for all callers when the next slot is released. */
    untilFree: (): Promise<void> | undefined =>
      taken < slots ? undefined : new Promise((resolve) => watchers.push(resolve)),
    acquire,
    /** Runs the work in a slot that it acquires. */
    run: async <T>(signal: AbortSignal, work: () => Promise<T>): Promise<T> => {
      await acquire(signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

export type KeyedMutex = ReturnType<typeof createKeyedMutex>;

/**
 * Runs one piece of work at a time per key; others of the same key wait in order. Keys without work take no memory. (The
 * mutexes of `async-mutex` have no keys: a map of them would need this as well.)
 */
export function createKeyedMutex() {
  const last = new Map<number, Promise<unknown>>();
  return {
    run: async <T>(key: number, work: () => Promise<T>): Promise<T> => {
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

/** Counts the pieces of work in flight, by key. */
export function createInFlightCounter() {
  const counts = new Map<number, number>();
  let waiting: { keys: readonly number[]; resolve: () => void }[] = [];
  const isNone = (keys: readonly number[]) => !keys.some((key) => counts.has(key));
  return {
    begin: (key: number) => void counts.set(key, (counts.get(key) ?? 0) + 1),
    end: (key: number) => {
      const left = (counts.get(key) ?? 1) - 1;
      if (left === 0) counts.delete(key);
      else counts.set(key, left);
      if (waiting.length === 0) return;
      for (const { resolve } of waiting.filter(({ keys }) => isNone(keys))) resolve();
      waiting = waiting.filter(({ keys }) => !isNone(keys));
    },
    /** The keys of what is in flight. */
    keys: () => counts.keys(),
    /** Resolves when no work of these keys is in flight. */
    untilNone: (keys: readonly number[]) =>
      new Promise<void>((resolve) => {
        if (isNone(keys)) resolve();
        else waiting.push({ keys, resolve });
      }),
  };
}

/** Numbers that share a slot differ by this, so it bounds how many objects are held at once. */
const STRIDE = 2 ** 20;

/**
 * Holds short-lived objects by number, for what is in flight. A `Map` that objects enter and leave all the time keeps many
 * of them alive after they have left: its former hash tables refer to them and to each later table, until a full garbage
 * collection (docs/performance.md#conclusions). Here an object that has left is not referred to any more.
 */
export class Slots<T> {
  readonly #values: (T | undefined)[] = [];
  /** The number that each slot has now, or had last. */
  readonly #numbers: number[] = [];
  readonly #free: number[] = [];

  /** Holds a value under a number that no other value had. @throws RangeError beyond a million values at once */
  add(value: T): number {
    const slot = this.#free.pop();
    const number = slot === undefined ? this.#values.length : (this.#numbers[slot] ?? slot) + STRIDE;
    if (slot === undefined && number >= STRIDE) throw new RangeError('too many values at once');
    this.#numbers[number % STRIDE] = number;
    this.#values[number % STRIDE] = value;
    return number;
  }

  get(number: number): T | undefined {
    const slot = number % STRIDE;
    return this.#numbers[slot] === number ? this.#values[slot] : undefined;
  }

  /** Returns a value and holds it no longer; `undefined` if it has left before. */
  take(number: number): T | undefined {
    const value = this.get(number);
    if (value === undefined) return undefined;
    const slot = number % STRIDE;
    this.#values[slot] = undefined;
    this.#free.push(slot);
    return value;
  }

  /** The values that are held now with their numbers, in no order. */
  entries(): [number, T][] {
    return this.#numbers.flatMap((number) => {
      const value = this.get(number);
      return value === undefined ? [] : [[number, value] satisfies [number, T]];
    });
  }
}

/** Slots whose values have names: the tables of the map that finds them refer to nothing but names and numbers. */
export class NamedSlots<Name extends string | number, T> {
  readonly #numbers = new Map<Name, number>();
  readonly #slots = new Slots<T>();

  get size(): number {
    return this.#numbers.size;
  }

  /** Holds a value under a name; what had the name before has left. @throws RangeError as `Slots` */
  set(name: Name, value: T): void {
    this.take(name);
    this.#numbers.set(name, this.#slots.add(value));
  }

  get(name: Name): T | undefined {
    const number = this.#numbers.get(name);
    return number === undefined ? undefined : this.#slots.get(number);
  }

  /** Returns a value and holds it no longer; `undefined` if it has left before. */
  take(name: Name): T | undefined {
    const number = this.#numbers.get(name);
    if (number === undefined) return undefined;
    this.#numbers.delete(name);
    return this.#slots.take(number);
  }

  /** In the order in which they came. */
  names(): IterableIterator<Name> {
    return this.#numbers.keys();
  }

  /** In no order. */
  values(): T[] {
    return this.#slots.entries().map(([, value]) => value);
  }
}
