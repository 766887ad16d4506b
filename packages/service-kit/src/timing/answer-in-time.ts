import type { Clock } from './clock.js';

export interface InTime<T> {
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
