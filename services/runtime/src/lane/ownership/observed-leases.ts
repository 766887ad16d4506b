import type { Clock } from '@orrery/service-kit';
import type { Announced } from '../../store/leases/leases.js';

/**
 * Times the announcements of other processes by this process's monotonic clock: each is over when it has not changed for
 * what was left of it when it was first seen, and for its whole length at most. So nobody who announces is taken for gone,
 * and nobody who is gone is waited for longer, whatever somebody does to the clock of the database.
 */
export class ObservedLeases {
  readonly #clock: Pick<Clock, 'monotonic'>;
  readonly #lengthMs: number;
  #seen = new Map<string, { readonly mark: string; readonly until: number }>();

  constructor(clock: Pick<Clock, 'monotonic'>, lengthMs: number) {
    this.#clock = clock;
    this.#lengthMs = lengthMs;
  }

  /** How long each of them still lasts, in milliseconds, 0 for one that is over. What is not named is forgotten. */
  observe(announced: ReadonlyMap<string, Announced>): Map<string, number> {
    const now = this.#clock.monotonic();
    const seen = new Map<string, { mark: string; until: number }>();
    const left = new Map<string, number>();
    for (const [name, { mark, leftMs }] of announced) {
      const before = this.#seen.get(name);
      const lasts = Math.min(Math.max(leftMs ?? 0, 0), this.#lengthMs);
      const one = before?.mark === mark ? before : { mark, until: now + lasts };
      seen.set(name, one);
      left.set(name, Math.max(0, one.until - now));
    }
    this.#seen = seen;
    return left;
  }
}
