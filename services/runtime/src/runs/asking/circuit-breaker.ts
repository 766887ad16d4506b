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
/** Failures within so many milliseconds count as one: one fault of a server ends many calls at once. */
export const FAILURE_INTERVAL_MS = 1000;
/** How long an open circuit lets no call pass, in milliseconds. */
export const OPEN_MS = 15_000;

/**
 * Keeps calls from a server that fails:
 *
 *   closed     all calls pass; 5 failures in a row, each at least 1 s after the one before → open
 *   open       no call passes for 15 s, then → half-open
 *   half-open  one call passes, the others wait as if it were open: it is answered → closed; it fails → open
 *
 * A failure that comes while it is open, of a call that passed before, says nothing new.
 */
export function createCircuitBreaker(clock: Pick<Clock, 'monotonic'>): CircuitBreaker {
  let failures = 0;
  let countedAt = Number.NEGATIVE_INFINITY;
  let openUntil = 0;
  let isProbing = false;
  const isOpen = () => failures >= FAILURES_TO_OPEN;
  const open = () => {
    openUntil = clock.monotonic() + OPEN_MS;
  };
  const close = () => {
    failures = 0;
    countedAt = Number.NEGATIVE_INFINITY;
    isProbing = false;
  };
  const count = () => {
    const now = clock.monotonic();
    if (isOpen() || now - countedAt < FAILURE_INTERVAL_MS) return;
    countedAt = now;
    failures += 1;
    if (isOpen()) open();
  };
  const endProbe = () => {
    isProbing = false;
  };
  const failProbe = () => {
    endProbe();
    open();
  };
  return {
    enter: () => {
      if (!isOpen()) return { answered: close, failed: count, cancelled: () => undefined };
      const openForMs = openUntil - clock.monotonic();
      if (openForMs > 0 || isProbing) return { openForMs: Math.max(openForMs, 1) };
      isProbing = true;
      return { answered: close, failed: failProbe, cancelled: endProbe };
    },
  };
}
