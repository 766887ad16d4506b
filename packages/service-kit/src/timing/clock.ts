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
