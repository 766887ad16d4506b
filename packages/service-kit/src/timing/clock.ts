import { setTimeout as wait } from 'node:timers/promises';

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

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => Math.round(performance.timeOrigin + performance.now()),
  sleep: (ms, signal) => wait(ms, undefined, signal === undefined ? {} : { signal: signal }),
};

type Times = Pick<Clock, 'now' | 'monotonic'>;

/** A time that is stored, as a time of `monotonic` to wait for. Both in milliseconds. */
export const monotonicOf = (clock: Times, stored: number): number =>
  clock.monotonic() + (stored - clock.now());

/** A time of `monotonic`, as one that can be stored. Both in milliseconds. */
export const storedTimeOf = (clock: Times, monotonic: number): number =>
  clock.now() + (monotonic - clock.monotonic());

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
