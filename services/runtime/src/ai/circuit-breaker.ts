import type { Clock } from '@orrery/service-kit';

/** The way of one call through a circuit breaker; exactly one of these is called at its end. */
export interface Passage {
  /** The server answered, be it with a refusal. */
  answered(): void;
  /** The server could not be reached, failed or took too long. */
  failed(): void;
  /** The call was given up, which says nothing of the server. */
  cancelled(): void;
}

export interface CircuitBreaker {
  /** Lets a call pass, or answers in how many milliseconds one may pass again. */
  enter(): Passage | { readonly openForMs: number };
}

/** Failures in a row that open the circuit. */
export const FAILURES_TO_OPEN = 5;
/** How long an open circuit lets no call pass, in milliseconds. */
export const OPEN_MS = 15_000;

/**
 * Keeps calls from a server that fails:
 *
 *   closed     all calls pass; 5 failures in a row → open
 *   open       no call passes for 15 s, then → half-open
 *   half-open  one call passes, the others wait as if it were open: it is answered → closed; it fails → open
 */
export function createCircuitBreaker(clock: Pick<Clock, 'now'>): CircuitBreaker {
  let failures = 0;
  let openUntil = 0;
  let isProbing = false;
  const close = () => {
    failures = 0;
    isProbing = false;
  };
  const fail = () => {
    failures += 1;
    isProbing = false;
    if (failures >= FAILURES_TO_OPEN) openUntil = clock.now() + OPEN_MS;
  };
  return {
    enter: () => {
      if (failures < FAILURES_TO_OPEN) return { answered: close, failed: fail, cancelled: () => undefined };
      const openForMs = openUntil - clock.now();
      if (openForMs > 0 || isProbing) return { openForMs: Math.max(openForMs, 1) };
      isProbing = true;
      return {
        answered: close,
        failed: fail,
        cancelled: () => {
          isProbing = false;
        },
      };
    },
  };
}
