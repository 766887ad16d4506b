import { setTimeout as wait } from 'node:timers/promises';
import { ServiceError } from '@orrery/contracts';

/** The one source of time. Tests pass a clock that they move themselves. */
export interface Clock {
  /** Milliseconds since the epoch, for what is stored or told. It leaps when somebody sets the clock, also backwards. */
  now(): number;
  /**
   * Milliseconds since the epoch as of the start of the process, for everything that is waited for: deadlines, pauses,
   * ages. It never leaps. Only differences within one process mean anything, so it is neither stored nor sent.
   */
  monotonic(): number;
  /** Waits `ms` milliseconds. Rejects with an `AbortError` as soon as `signal` aborts. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** A timer of Node.js that is set to wait longer fires at once. */
const LONGEST_WAIT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Math.round(performance.timeOrigin + performance.now()),
  sleep: async (ms, signal) => {
    const options = signal === undefined ? {} : { signal };
    for (let left = ms; ; left -= LONGEST_WAIT_MS) {
      await wait(Math.min(left, LONGEST_WAIT_MS), undefined, options);
      if (left <= LONGEST_WAIT_MS) return;
    }
  },
};

/** A time that is stored, as a time of `monotonic` to wait for. Both in milliseconds. */
export const monotonicOf = (clock: Pick<Clock, 'now' | 'monotonic'>, stored: number): number =>
  clock.monotonic() + (stored - clock.now());

/** Texts that are remembered. */
const MAX_KNOWN = 100;
const known = new Map<number, string>();

/**
 * A time in milliseconds since the epoch by RFC 3339, in UTC with milliseconds. Making the text costs microseconds, and much
 * happens, or is due, in one millisecond.
 */
export function timestampOf(ms: number): string {
  const before = known.get(ms);
  if (before !== undefined) return before;
  const text = new Date(ms).toISOString();
  if (known.size >= MAX_KNOWN) known.clear();
  known.set(ms, text);
  return text;
}

interface InTime<T> {
  readonly clock: Clock;
  /** In milliseconds. */
  readonly timeoutMs: number;
  /** What counts as the answer when none came in time. */
  readonly late: () => T;
  /** What counts as the answer when asking threw. */
  readonly failed: () => T;
}

/** What was answered, or what stands for it. Never rejects. */
export async function answerInTime<T>(
  ask: () => T | Promise<T>,
  { clock, timeoutMs, late, failed }: InTime<T>,
): Promise<T> {
  const answered = new AbortController();
  const timeout = clock.sleep(timeoutMs, answered.signal).then(late);
  try {
    return await Promise.race([Promise.resolve().then(ask).catch(failed), timeout]);
  } finally {
    timeout.catch(() => undefined);
    answered.abort();
  }
}

/**
 * Work that may take so many milliseconds. Its signal aborts then, or when `signal` does; this rejects with the reason at
 * once, also where the work takes no notice. @throws `deadline_exceeded`, or the signal's reason
 */
export async function withinTime<T>(
  clock: Pick<Clock, 'sleep'>,
  ms: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const [late, ended] = [new AbortController(), new AbortController()];
  const either = AbortSignal.any([signal, late.signal]);
  clock.sleep(Math.max(0, ms), ended.signal).then(
    () => late.abort(new ServiceError('deadline_exceeded')),
    () => undefined,
  );
  try {
    return await orAborted(work(either), either);
  } finally {
    ended.abort();
  }
}

/** The result, or the signal's reason as soon as it aborts. */
export async function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const done = new AbortController();
  if (signal.aborted) reject(signal.reason);
  signal.addEventListener('abort', () => reject(signal.reason), { signal: done.signal, once: true });
  try {
    return await Promise.race([work, aborted]);
  } finally {
    done.abort();
  }
}
