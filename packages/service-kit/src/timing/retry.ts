import { ServiceError } from '@orrery/contracts';
import type { Clock } from './clock.js';

export interface Backoff {
  /** Delay before the first repetition, in milliseconds; it doubles from then on. */
  readonly baseMs: number;
  /** No delay is longer than this, in milliseconds. */
  readonly maxMs: number;
}

export interface RetryPolicy extends Backoff {
  /** How often the operation is called at most, the first call included. */
  readonly attempts: number;
  /** Whether it makes sense to try again after this error. Default: `isRetryable`. */
  readonly retryable?: (error: unknown) => boolean;
}

export interface RetryContext {
  readonly clock: Clock;
  readonly signal?: AbortSignal;
  readonly random?: () => number;
  readonly onRetry?: (error: unknown, attempt: number, delayMs: number) => void;
}

/**
 * For the first contact of a start with a server, which may just be starting or be busy: refused connections are tried
 * for 2.5 to 5 s, and each attempt adds its own time. A start that ended sooner would use up what a supervisor allows:
 * systemd gives up after five starts within 10 s.
 */
export const FIRST_CONTACT = { attempts: 6, baseMs: 200, maxMs: 2000 } as const satisfies RetryPolicy;

/** Exponential delay before repetition `attempt` (1, 2, …): between half and the whole of the doubled base. */
export function backoffDelay(
  attempt: number,
  { baseMs, maxMs }: Backoff,
  random: () => number = Math.random,
): number {
  const whole = Math.min(maxMs, baseMs * 2 ** Math.min(attempt - 1, 30));
  return whole / 2 + random() * (whole / 2);
}

/**
 * Calls `operation` until it succeeds, the policy is used up, the error is not retryable or the signal
 * aborts. Rejects with the operation's last error, or with the signal's reason.
 */
export async function retry<T>(
  operation: (attempt: number) => Promise<T>,
  policy: RetryPolicy,
  { clock, signal, random, onRetry }: RetryContext,
): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await operation(attempt);
    } catch (error) {
      const worthwhile = (policy.retryable ?? isRetryable)(error);
      if (attempt >= policy.attempts || !worthwhile || signal?.aborted) throw error;
      const delayMs = backoffDelay(attempt, policy, random);
      onRetry?.(error, attempt, delayMs);
      await clock.sleep(delayMs, signal);
    }
  }
}

/** The table of error codes decides for a ServiceError; an error from elsewhere may be a passing one. */
export const isRetryable = (error: unknown): boolean => !(error instanceof ServiceError) || error.retryable;
