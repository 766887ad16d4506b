import { backoffDelay, type Clock } from '@orrery/service-kit';

/** Keys whose publication failed, left out for a while so that they do not hold up the others. */
export interface FailingKeys {
  /** Those that are not due yet. */
  waiting(): string[];
  failed(key: string): void;
  succeeded(key: string): void;
}

const BACKOFF = { baseMs: 500, maxMs: 30_000 };

/** In memory: a relay that starts anew tries every key at once. */
export function createFailingKeys(clock: Clock, random: () => number = Math.random): FailingKeys {
  const keys = new Map<string, { failures: number; dueAt: number }>();
  return {
    waiting: () => [...keys].filter(([, { dueAt }]) => dueAt > clock.now()).map(([key]) => key),
    failed: (key) => {
      const failures = (keys.get(key)?.failures ?? 0) + 1;
      keys.set(key, { failures, dueAt: clock.now() + backoffDelay(failures, BACKOFF, random) });
    },
    succeeded: (key) => {
      keys.delete(key);
    },
  };
}
