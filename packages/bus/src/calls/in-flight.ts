import { type Cancellation, Canceller, ServiceError } from '@orrery/contracts';
import { NamedSlots } from '@orrery/service-kit';
import type { RequestOptions } from '../transport.js';

// A call in flight, at both ends: the caller's wait for the answer, and the calls that this process is answering.

/** No process serves the subject. `reached: false` tells the caller that nothing can have happened. */
export const noResponders = (): ServiceError =>
  new ServiceError('unavailable', 'The service is away.', { facts: { reached: false } });

/** No process took the call, so nothing happened. After any other `unavailable` it may have been carried out. */
export const isUnreached = (error: unknown): boolean =>
  error instanceof ServiceError && error.code === 'unavailable' && error.facts['reached'] === false;

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
function reasonOf(signal: Cancellation | undefined): ServiceError {
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
  start(id: string): Canceller;
  end(id: string): void;
  cancel(id: string): void;
  /** Resolves when none runs. */
  untilIdle(): Promise<void>;
  /** Aborts the calls that still run. */
  abortAll(): void;
}

export function createRunningCalls(): RunningCalls {
  const running = new NamedSlots<string, Canceller>();
  let onIdle: (() => void) | undefined;
  return {
    get size() {
      return running.size;
    },
    start: (id) => {
      const call = new Canceller();
      running.set(id, call);
      return call;
    },
    end: (id) => {
      running.take(id);
      if (running.size === 0) onIdle?.();
    },
    cancel: (id) => running.get(id)?.abort(goneError()),
    untilIdle: async () => {
      if (running.size === 0) return;
      await new Promise<void>((resolve) => {
        onIdle = resolve;
      });
    },
    abortAll: () => {
      for (const call of running.values())
        call.abort(
          new ServiceError('unavailable', 'The service is stopping.', { facts: { outcome: 'unknown' } }),
        );
    },
  };
}
