/** Those who wait, in the order in which they came. */
type Queue = Set<() => void>;

function shift(queue: Queue): (() => void) | undefined {
  const [next] = queue;
  if (next !== undefined) queue.delete(next);
  return next;
}

/** Slots for work. Those who wait get slots in turn, one piece of work each, in the order in which they came. */
export class FairSlots {
  #taken = 0;
  /** A queue for each who waits; whose turn is next is first. */
  readonly #waiting = new Map<string, Queue>();

  constructor(private readonly slots: number) {}

  /** Rejects with the signal's reason when it aborts before the work has begun. */
  async run<T>(who: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (this.#taken >= this.slots) await this.#turn(this.#queueOf(who), signal);
    else this.#taken += 1;
    try {
      return await work();
    } finally {
      this.#release();
    }
  }

  #queueOf(who: string): Queue {
    const queue = this.#waiting.get(who) ?? new Set();
    this.#waiting.set(who, queue);
    return queue;
  }

  async #turn(queue: Queue, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const leave = () => {
      queue.delete(resolve);
      reject(signal.reason);
    };
    signal.addEventListener('abort', leave, { once: true });
    queue.add(resolve);
    await promise.finally(() => signal.removeEventListener('abort', leave));
  }

  /** A released slot goes straight to the next one who waits. */
  #release(): void {
    const next = this.#nextInTurn();
    if (next === undefined) this.#taken -= 1;
    else next();
  }

  /** Who still waits for more goes to the end of the line. */
  #nextInTurn(): (() => void) | undefined {
    for (const [who, queue] of this.#waiting) {
      this.#waiting.delete(who);
      const next = shift(queue);
      if (queue.size > 0) this.#waiting.set(who, queue);
      if (next !== undefined) return next;
    }
    return undefined;
  }
}
