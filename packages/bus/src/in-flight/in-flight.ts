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
export class RunningCalls {
  readonly #running = new NamedSlots<string, AbortController>();
  #onIdle: (() => void) | undefined;

  /** A cancellation names the call by `id`. */
  start(id: string): AbortController {
    const call = new AbortController();
    this.#running.set(id, call);
    return call;
  }

  end(id: string): void {
    this.#running.take(id);
    if (this.#running.size === 0) this.#onIdle?.();
  }

  cancel(id: string): void {
    this.#running.get(id)?.abort(goneError());
  }

  /** Resolves when none runs. */
  async untilIdle(): Promise<void> {
    const idle = Promise.withResolvers<void>();
    this.#onIdle = idle.resolve;
    if (this.#running.size > 0) await idle.promise;
  }

  /** Aborts the calls that still run. */
  abortAll(): void {
    for (const call of this.#running.values()) call.abort(unanswered('The service is stopping.'));
  }
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

/** Messages of a consumer that are handled at once, across ordering keys. */
export const MAX_IN_FLIGHT = 64;

/** A bounded number of deliveries in work. Unlike a semaphore it waits until half of the slots are free. */
export class WorkSlots {
  readonly #underWay = new Set<Promise<void>>();

  constructor(private readonly count: number) {}

  get free(): number {
    return this.count - this.#underWay.size;
  }

  /** `work` never rejects. */
  take(work: Promise<void>): void {
    const tracked = work.finally(() => this.#underWay.delete(tracked));
    this.#underWay.add(tracked);
  }

  /** Resolves when at least half of the slots are free. */
  untilHalfFree(): Promise<void> {
    return this.#until(Math.floor(this.count / 2));
  }

  /** Resolves when no work is under way. */
  untilEmpty(): Promise<void> {
    return this.#until(0);
  }

  async #until(most: number): Promise<void> {
    while (this.#underWay.size > most) await Promise.race(this.#underWay);
  }
}
