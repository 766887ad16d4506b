import { type Cancellation, ServiceError } from '@orrery/contracts';
import type { RequestOptions } from '../transport.js';
import { lateError, startDeadline } from './late.js';

export interface Settle<T> {
  resolve(answer: T): void;
  reject(error: unknown): void;
}

/**
 * Waits for one answer, until the time is over or the signal aborts; `giveUp` is then told why. Whatever is
 * settled later is ignored.
 */
export function awaitAnswer<T>(
  { timeoutMs, signal }: Pick<RequestOptions, 'timeoutMs' | 'signal'>,
  ask: (settle: Settle<T>) => void,
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
    ask({
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

/** The reason when it says enough, else that the call was given up. */
function reasonOf(signal: Cancellation | undefined): ServiceError {
  const reason: unknown = signal?.reason;
  if (reason instanceof ServiceError) return reason;
  return new ServiceError('unavailable', 'The call was given up before its answer came', {
    cause: reason,
  });
}
