/** What an item must know of a timer to take it away. */
export interface TimerName {
  readonly id: string;
  readonly key: string | null;
  /** Of a follow-up without delay: the `seq` of the entry that its tree begins with. */
  readonly tree: number | null;
}

/** Timers that are remembered as gone: those that may still be on their way to the lane. */
const REMEMBERED = 20_000;

/**
 * What is in memory of a deployment's timers. How many are pending is in the head's totals; the timers themselves stay in
 * the database until they are due.
 */
export class PendingTimers {
  /** Follow-ups without delay, in their order: the first of them is the next item of the lane. */
  readonly next: Map<string, TimerName>;
  readonly #byKey = new Map<string, TimerName | null>();
  readonly #gone = new Set<string>();

  constructor(next: readonly TimerName[] = []) {
    this.next = new Map(next.map((timer) => [timer.id, timer]));
  }

  /** The timer that is pending under a key; null: none is. `undefined`: that is not in memory. */
  withKey(key: string): TimerName | null | undefined {
    return this.#byKey.get(key);
  }

  /** What the database has under a key, unless memory knows better. */
  learn(key: string, timer: TimerName | null): void {
    if (!this.#byKey.has(key)) this.#byKey.set(key, timer);
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
    if (key !== null && this.#byKey.get(key)?.id === id) this.#byKey.set(key, null);
    this.#gone.add(id);
    const [oldest] = this.#gone;
    if (this.#gone.size > REMEMBERED && oldest !== undefined) this.#gone.delete(oldest);
  }
}
