/** Bounds how many pieces of work run at once, and shares the slots between those who ask. */
export interface FairSlots {
  readonly isFull: boolean;
  /**
   * Runs the work in a slot. Work that is to be first gets the next slots in the order in which it came. The others get
   * slots in turn, one piece of work each, in the order in which they came. Rejects with the signal's reason when it
   * aborts before the work has begun.
   */
  run<T>(asking: Asking, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

export interface Asking {
  readonly who: string;
  readonly isFirst: boolean;
}

/** Work that waits for a slot. */
type Waiting = () => void;

/** A queue for each who waits; whose turn is next is first in the map. */
type Queues = Map<string, Waiting[]>;

export function createFairSlots(slots: number): FairSlots {
  let taken = 0;
  const first: Queues = new Map();
  const others: Queues = new Map();
  const acquire = ({ who, isFirst }: Asking, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal.throwIfAborted();
      if (taken < slots) {
        taken += 1;
        return resolve();
      }
      const [queues, name] = isFirst ? [first, ''] : [others, who];
      const start = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        withdraw(queues, name, start);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      const queue = queues.get(name);
      if (queue === undefined) queues.set(name, [start]);
      else queue.push(start);
    });
  // A released slot goes straight to the next one who waits.
  const release = () => {
    const next = nextOf(first) ?? nextOf(others);
    if (next === undefined) taken -= 1;
    else next();
  };
  return {
    get isFull() {
      return taken >= slots;
    },
    run: async (asking, signal, work) => {
      await acquire(asking, signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

/** The next one to start. Who still waits for more goes to the end of the line. */
function nextOf(queues: Queues): Waiting | undefined {
  for (const [who, queue] of queues) {
    queues.delete(who);
    const next = queue.shift();
    if (queue.length > 0) queues.set(who, queue);
    return next;
  }
  return undefined;
}

function withdraw(queues: Queues, who: string, start: Waiting): void {
  const left = (queues.get(who) ?? []).filter((other) => other !== start);
  if (left.length > 0) queues.set(who, left);
  else queues.delete(who);
}
