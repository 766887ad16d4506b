// What is in flight: counted by key, or held by number.

/** Counts the pieces of work in flight, by key. */
export interface InFlightCounter {
  begin(key: number): void;
  end(key: number): void;
  /** Resolves when no work of these keys is in flight. */
  untilNone(keys: readonly number[]): Promise<void>;
}

export function createInFlightCounter(): InFlightCounter {
  const counts = new Map<number, number>();
  let waiting: { keys: readonly number[]; resolve: () => void }[] = [];
  const isNone = (keys: readonly number[]) => keys.every((key) => !counts.get(key));
  return {
    begin: (key) => void counts.set(key, (counts.get(key) ?? 0) + 1),
    end: (key) => {
      counts.set(key, (counts.get(key) ?? 1) - 1);
      if (waiting.length === 0) return;
      for (const { resolve } of waiting.filter(({ keys }) => isNone(keys))) resolve();
      waiting = waiting.filter(({ keys }) => !isNone(keys));
    },
    untilNone: (keys) =>
      new Promise<void>((resolve) => {
        if (isNone(keys)) resolve();
        else waiting.push({ keys, resolve });
      }),
  };
}

/** Numbers that share a slot differ by this, so it bounds how many objects are held at once. */
const STRIDE = 2 ** 20;

/**
 * Holds short-lived objects by number, for what is in flight. A `Map` that objects enter and leave all the time keeps many
 * of them alive after they have left: its former hash tables refer to them and to each later table, until a full garbage
 * collection (docs/performance.md#conclusions). Here an object that has left is not referred to any more.
 */
export class Slots<T> {
  readonly #values: (T | undefined)[] = [];
  /** The number that each slot has now, or had last. */
  readonly #numbers: number[] = [];
  readonly #free: number[] = [];

  /** Holds a value under a number that no other value had. @throws RangeError beyond a million values at once */
  add(value: T): number {
    const slot = this.#free.pop();
    const number = slot === undefined ? this.#values.length : (this.#numbers[slot] ?? slot) + STRIDE;
    if (slot === undefined && number >= STRIDE) throw new RangeError('too many values at once');
    this.#numbers[number % STRIDE] = number;
    this.#values[number % STRIDE] = value;
    return number;
  }

  get(number: number): T | undefined {
    const slot = number % STRIDE;
    return this.#numbers[slot] === number ? this.#values[slot] : undefined;
  }

  /** Returns a value and holds it no longer; `undefined` if it has left before. */
  take(number: number): T | undefined {
    const value = this.get(number);
    if (value === undefined) return undefined;
    const slot = number % STRIDE;
    this.#values[slot] = undefined;
    this.#free.push(slot);
    return value;
  }

  /** The values that are held now with their numbers, in no order. */
  entries(): [number, T][] {
    return this.#numbers.flatMap((number) => {
      const value = this.get(number);
      return value === undefined ? [] : [[number, value] satisfies [number, T]];
    });
  }
}

/** Slots whose values have names: the tables of the map that finds them refer to nothing but names and numbers. */
export class NamedSlots<Name extends string | number, T> {
  readonly #numbers = new Map<Name, number>();
  readonly #slots = new Slots<T>();

  get size(): number {
    return this.#numbers.size;
  }

  /** Holds a value under a name; what had the name before has left. @throws RangeError as `Slots` */
  set(name: Name, value: T): void {
    this.take(name);
    this.#numbers.set(name, this.#slots.add(value));
  }

  get(name: Name): T | undefined {
    const number = this.#numbers.get(name);
    return number === undefined ? undefined : this.#slots.get(number);
  }

  /** Returns a value and holds it no longer; `undefined` if it has left before. */
  take(name: Name): T | undefined {
    const number = this.#numbers.get(name);
    if (number === undefined) return undefined;
    this.#numbers.delete(name);
    return this.#slots.take(number);
  }

  /** In the order in which they came. */
  names(): IterableIterator<Name> {
    return this.#numbers.keys();
  }

  /** In no order. */
  values(): T[] {
    return this.#slots.entries().map(([, value]) => value);
  }
}
