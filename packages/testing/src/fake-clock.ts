import { setImmediate as turn } from 'node:timers/promises';
import type { Clock } from '@orrery/service-kit';

type Signal = NonNullable<Parameters<Clock['sleep']>[1]>;

interface Sleeper {
  readonly due: number;
  wake(): void;
}

/** A clock that stands still until a test moves it. */
export class FakeClock implements Clock {
  #now: number;
  #setBy = 0;
  #sleepers: Sleeper[] = [];

  /** `start` in milliseconds since the epoch; 2030-01-01T00:00:00Z by default. */
  constructor(start = Date.UTC(2030, 0, 1)) {
    this.#now = start;
  }

  now(): number {
    return this.#now + this.#setBy;
  }

  monotonic(): number {
    return this.#now;
  }

  /** Sets the clock on the wall forward or back; nothing that sleeps takes notice. */
  set(byMs: number): void {
    this.#setBy += byMs;
  }

  /** Number of pending sleeps. */
  get sleeping(): number {
    return this.#sleepers.length;
  }

  sleep(ms: number, signal?: Signal): Promise<void> {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(abortError(signal));
      const sleeper = { due: this.#now + ms, wake: resolve };
      this.#sleepers.push(sleeper);
      signal?.addEventListener('abort', () => {
        this.#forget(sleeper);
        reject(abortError(signal));
      });
    });
  }

  /**
   * Moves the time, waking sleepers in the order in which they are due, each at its own time. Between two of them
   * it gives way to what was woken, so a loop that sleeps again within the span is woken again.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#now + ms;
    await turn();
    for (let next = this.#nextUntil(end); next !== undefined; next = this.#nextUntil(end)) {
      this.#now = Math.max(this.#now, next.due);
      this.#forget(next);
      next.wake();
      await turn();
    }
    this.#now = end;
  }

  /**
   * Moves the time in one step, as for a machine that slept: who is due by then is woken once, at the end. For
   * spans over which loops would be woken many thousand times.
   */
  async leap(ms: number): Promise<void> {
    this.#now += ms;
    await this.advance(0);
  }

  #nextUntil(end: number): Sleeper | undefined {
    const due = this.#sleepers.filter((sleeper) => sleeper.due <= end);
    return due.sort((a, b) => a.due - b.due)[0];
  }

  #forget(sleeper: Sleeper): void {
    this.#sleepers = this.#sleepers.filter((other) => other !== sleeper);
  }
}

/** What `timers/promises` rejects with. */
function abortError(signal: Signal): Error {
  return Object.assign(new Error('The sleep was aborted', { cause: signal.reason }), { name: 'AbortError' });
}
