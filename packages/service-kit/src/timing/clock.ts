import { setTimeout as wait } from 'node:timers/promises';
import { abortSignalOf, type Cancellation } from '@orrery/contracts';

/** The one source of time. Tests pass a clock that they move themselves. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Waits `ms` milliseconds. Rejects with an `AbortError` as soon as `signal` aborts. */
  sleep(ms: number, signal?: Cancellation): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => wait(ms, undefined, signal === undefined ? {} : { signal: abortSignalOf(signal) }),
};

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
