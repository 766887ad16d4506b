/** What an item must know of a timer to take it away. */
export interface TimerName {
  readonly id: string;
  readonly key: string | null;
  /** Of a follow-up without delay: the `seq` of the entry that its tree begins with. */
  readonly tree: number | null;
}

/** Names per generation; two generations are kept. */
const GENERATION = 10_000;

/** The names that were added last. Generations, since a set that loses its first member all the time is slow. */
class LatestNames {
  #older = new Set<string>();
  #newer = this.#older;

  has(name: string): boolean {
    return this.#newer.has(name) || this.#older.has(name);
  }

  add(name: string): void {
    if (this.#newer.size >= GENERATION) {
      this.#older = this.#newer;
      this.#newer = new Set();
    }
    this.#newer.add(name);
  }

  delete(name: string): void {
    this.#newer.delete(name);
    this.#older.delete(name);
  }
}

/**
 * What is in memory of a deployment's timers. How many are pending is in the head's totals; the timers themselves stay in
 * the database until they are due.
 */
export class PendingTimers {
  /** Follow-ups without delay, in their order: the first of them is the next item of the lane. */
  readonly next: Map<string, TimerName>;
  readonly #byKey = new Map<string, TimerName>();
  /**
   * Keys under which none is pending. A key that is forgotten is read again, so one that was freed is remembered until the
   * database has it free too: it is not forgotten for what was read, nor for what one batch frees.
   */
  readonly #freed = new LatestNames();
  readonly #foundFree = new LatestNames();
  /** Those that may still be on their way to the lane. */
  readonly #gone = new LatestNames();

  constructor(next: readonly TimerName[] = []) {
    this.next = new Map(next.map((timer) => [timer.id, timer]));
  }

  /** The timer that is pending under a key; null: none is. `undefined`: that is not in memory. */
  withKey(key: string): TimerName | null | undefined {
    const timer = this.#byKey.get(key);
    if (timer !== undefined) return timer;
    return this.#freed.has(key) || this.#foundFree.has(key) ? null : undefined;
  }

  /** What the database has under a key, unless memory knows better. */
  learn(key: string, timer: TimerName | null): void {
    if (this.withKey(key) !== undefined) return;
    // It was read before the commit that took it away.
    if (timer === null || this.#gone.has(timer.id)) this.#foundFree.add(key);
    else this.#byKey.set(key, timer);
  }

  /** Whether it was executed, cancelled or replaced while this was in memory. */
  isGone(id: string): boolean {
    return this.#gone.has(id);
  }

  add(timer: TimerName): void {
    this.#gone.delete(timer.id);
    if (timer.key !== null) this.#byKey.set(timer.key, timer);
    if (timer.tree !== null) this.next.set(timer.id, timer);
  }

  /** It is pending again, without its key and its place. */
  restore(id: string): void {
    this.#gone.delete(id);
  }

  remove({ id, key }: TimerName): void {
    this.next.delete(id);
    if (key !== null && this.#byKey.get(key)?.id === id) {
      this.#byKey.delete(key);
      this.#freed.add(key);
    }
    this.#gone.add(id);
  }
}
