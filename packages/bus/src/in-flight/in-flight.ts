import { ServiceError } from '@orrery/contracts';
import { NamedSlots } from '@orrery/service-kit';
import type { RequestOptions } from '../ports/transport.js';

// What is in flight: the caller's wait for an answer, the calls that this process is answering, deliveries in work, and
// the wait for all of them when the bus closes.

// How a call ends that was not answered. `reached: false`: no process took it, so nothing happened. `outcome: 'unknown'`: it
// may have been carried out. Every other `unavailable` is an answer.

/** No process serves the subject. */
export const noResponders = (): ServiceError =>
  new ServiceError('unavailable', 'The service is away.', { facts: { reached: false } });

/** The call was not sent: there is no way to any process now. */
export const unsent = (cause?: unknown): ServiceError =>
  new ServiceError('unavailable', 'The message bus is away.', { facts: { reached: false }, cause });

/** The call was sent, and no answer to it can come any more. */
export const unanswered = (detail: string, cause?: unknown): ServiceError =>
  new ServiceError('unavailable', `${detail} ${MAY_HAVE_HAPPENED}`, {
    facts: { outcome: 'unknown' },
    cause,
  });

const MAY_HAVE_HAPPENED =
  'Whether the request was carried out is unknown. A request with an Idempotency-Key can be repeated safely.';

/** No process took the call, so nothing happened. */
export const isUnreached = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'unavailable' && error.facts['reached'] === false;

/** It may have been carried out, and nobody tells. */
export const isUnknown = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'unavailable' && error.facts['outcome'] === 'unknown';

export const lateError = (): ServiceError => new ServiceError('deadline_exceeded');

/** The serving side keeps the deadline by itself. It has to be notified of every other reason. */
export const isLate = ({ code }: ServiceError): boolean => code === 'deadline_exceeded';

export const goneError = (): ServiceError =>
  new ServiceError('unavailable', 'The caller no longer waits for the answer.');

/** A longer wait than this makes a timer fire at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * A plain timer: real time, not the `Clock`'s. Each call needs one on both sides, and a sleep that can be aborted would
 * cost several times the rest of the call's bookkeeping.
 */
export const startDeadline = (ms: number, onLate: () => void): NodeJS.Timeout =>
  setTimeout(onLate, Math.min(ms, LONGEST_TIMER_MS));

export interface Settle<T> {
  resolve(answer: T): void;
  reject(error: unknown): void;
}

/**
 * Waits for one answer, until the time is over or the signal aborts; `giveUp` then gets the reason. Whatever is
 * settled later is ignored.
 */
export function awaitAnswer<T>(
  { timeoutMs, signal }: Pick<RequestOptions, 'timeoutMs' | 'signal'>,
  send: (settle: Settle<T>) => void,
  giveUp: (reason: ServiceError) => void,
): Promise<T> {
  if (signal?.aborted) return Promise.reject(reasonOf(signal));
  return new Promise<T>((resolve, reject) => {
    const release = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    };
    const abandon = (error: ServiceError) => {
      release();
      reject(error);
      giveUp(error);
    };
    const onAbort = () => abandon(reasonOf(signal));
    const timer = startDeadline(timeoutMs, () => abandon(lateError()));
    signal?.addEventListener('abort', onAbort, { once: true });
    send({
      resolve: (answer) => {
        release();
        resolve(answer);
      },
      reject: (error) => {
        release();
        reject(error);
      },
    });
  });
}

/** The signal's reason if it is a ServiceError, else that the call was given up. */
function reasonOf(signal: AbortSignal | undefined): ServiceError {
  const reason: unknown = signal?.reason;
  if (reason instanceof ServiceError) return reason;
  return new ServiceError('unavailable', 'The call was given up before its answer came.', {
    cause: reason,
  });
}

/** The calls that this process is answering. Their number is not bounded here. */
export interface RunningCalls {
  readonly size: number;
  /** A cancellation names the call by `id`. */
  start(id: string): AbortController;
  end(id: string): void;
  cancel(id: string): void;
  /** Resolves when none runs. */
  untilIdle(): Promise<void>;
  /** Aborts the calls that still run. */
  abortAll(): void;
}

export function createRunningCalls(): RunningCalls {
  const running = new NamedSlots<string, AbortController>();
  let onIdle: (() => void) | undefined;
  return {
    get size() {
      return running.size;
    },
    start: (id) => {
      const call = new AbortController();
      running.set(id, call);
      return call;
    },
    end: (id) => {
      running.take(id);
      if (running.size === 0) onIdle?.();
    },
    cancel: (id) => running.get(id)?.abort(goneError()),
    untilIdle: async () => {
      const idle = Promise.withResolvers<void>();
      onIdle = idle.resolve;
      if (running.size > 0) await idle.promise;
    },
    abortAll: () => {
      for (const call of running.values()) call.abort(unanswered('The service is stopping.'));
    },
  };
}

/** Work under way when the bus closes may take this long, in milliseconds. */
export const CLOSE_GRACE_MS = 4000;
/** Work that was then aborted may take this long. */
export const LAST_WORDS_MS = 500;

/** Waits for `work`, but no longer than `ms`, and for its success or failure alike. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const late = Promise.withResolvers<void>();
  const timer = setTimeout(late.resolve, ms);
  await Promise.race([Promise.allSettled([work]), late.promise]);
  clearTimeout(timer);
}

/** A bounded number of deliveries in work. Unlike a semaphore it waits until half of the slots are free. */
export interface WorkSlots {
  readonly free: number;
  take(work: Promise<void>): void;
  /** Resolves when at least half of the slots are free. */
  untilHalfFree(): Promise<void>;
  /** Resolves when no work is under way. */
  untilEmpty(): Promise<void>;
}

/** `work` never rejects. */
export function createWorkSlots(count: number): WorkSlots {
  const underWay = new Set<Promise<void>>();
  const until = async (most: number) => {
    while (underWay.size > most) await Promise.race(underWay);
  };
  return {
    get free() {
      return count - underWay.size;
    },
    take: (work) => {
      const tracked = work.finally(() => underWay.delete(tracked));
      underWay.add(tracked);
    },
    untilHalfFree: () => until(Math.floor(count / 2)),
    untilEmpty: () => until(0),
  };
}
