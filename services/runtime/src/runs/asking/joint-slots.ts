/** Something of which so many pieces of work may be under way at once. */
export interface Bound {
  readonly name: string;
  readonly most: number;
}

interface Waiting {
  readonly bounds: readonly Bound[];
  readonly begin: () => void;
}

/** Those who wait, in the order in which they came. */
type Queue = Set<Waiting>;

/**
 * Slots of several bounds, taken together: work begins when none of its bounds is full, and keeps no slot of one while
 * it waits for another. Work that is to be first goes before the others, in the order in which it came. Those others take
 * turns: one piece of work of each set of bounds, in the order in which they came.
 */
export class JointSlots {
  /** By the name of a bound. */
  readonly #underWay = new Map<string, number>();
  readonly #first: Queue = new Set();
  /** A queue for each set of bounds; whose turn is next is first. */
  readonly #others = new Map<string, Queue>();

  isFree(bounds: readonly Bound[]): boolean {
    return bounds.every(({ name, most }) => (this.#underWay.get(name) ?? 0) < most);
  }

  /** Rejects with the signal's reason when it aborts before the work has begun. */
  async run<T>(
    { bounds, isFirst }: { readonly bounds: readonly Bound[]; readonly isFirst: boolean },
    signal: AbortSignal,
    work: () => Promise<T>,
  ): Promise<T> {
    signal.throwIfAborted();
    // Free slots are taken in this turn of the event loop, so that no other work finds them free.
    if (this.isFree(bounds)) this.#count(bounds, 1);
    else await this.#turn(bounds, isFirst ? this.#first : this.#queueOf(bounds), signal);
    try {
      return await work();
    } finally {
      this.#count(bounds, -1);
      this.#beginNext();
    }
  }

  #count(bounds: readonly Bound[], more: 1 | -1): void {
    for (const { name } of bounds) {
      const count = (this.#underWay.get(name) ?? 0) + more;
      if (count === 0) this.#underWay.delete(name);
      else this.#underWay.set(name, count);
    }
  }

  #queueOf(bounds: readonly Bound[]): Queue {
    const name = nameOf(bounds);
    const queue = this.#others.get(name) ?? new Set();
    this.#others.set(name, queue);
    return queue;
  }

  /** Resolves when the slots are taken. */
  async #turn(bounds: readonly Bound[], queue: Queue, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { bounds, begin: resolve };
    const leave = () => {
      queue.delete(waiting);
      reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    queue.add(waiting);
    await promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** Slots go straight to those who wait. The slots of one piece of work may let several begin, each by one of its bounds. */
  #beginNext(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#count(next.bounds, 1);
      next.begin();
    }
  }

  #next(): Waiting | undefined {
    for (const one of this.#first) {
      if (!this.isFree(one.bounds)) continue;
      this.#first.delete(one);
      return one;
    }
    for (const [name, queue] of this.#others) {
      const [one] = queue;
      if (one !== undefined && !this.isFree(one.bounds)) continue;
      // Who still waits for more goes to the end of the line.
      this.#others.delete(name);
      if (one === undefined) continue;
      queue.delete(one);
      if (queue.size > 0) this.#others.set(name, queue);
      return one;
    }
    return undefined;
  }
}

const nameOf = (bounds: readonly Bound[]): string => JSON.stringify(bounds.map(({ name }) => name));
