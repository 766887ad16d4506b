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

let last = { ms: Number.NaN, text: '' };

/** A time by RFC 3339, in UTC with milliseconds. Making the text costs microseconds, and much happens in one millisecond. */
export function timestampOf(ms: number): string {
  if (last.ms !== ms) last = { ms, text: new Date(ms).toISOString() };
  return last.text;
}
