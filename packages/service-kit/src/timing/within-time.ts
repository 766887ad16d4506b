import { ServiceError } from '@orrery/contracts';
import type { Clock } from './clock.js';

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
