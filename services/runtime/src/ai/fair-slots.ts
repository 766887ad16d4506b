/** Bounds how many pieces of work run at once, and shares the slots between those who ask. */
export interface FairSlots {
  /**
   * Runs the work in a slot. Those who wait get slots in turn, one piece of work each, in the order in which they came.
   * Rejects with the signal's reason when it aborts before the work has begun.
   */
  run<T>(who: string, signal: AbortSignal, work: () => Promise<T>): Promise<T>;
}

/** Work that waits for a slot. */
type Waiting = () => void;

/** A queue for each who waits; whose turn is next is first in the map. */
export function createFairSlots(slots: number): FairSlots {
  let taken = 0;
  const queues = new Map<string, Waiting[]>();
  const acquire = (who: string, signal: AbortSignal) =>
    new Promise<void>((resolve, reject) => {
      signal.throwIfAborted();
      if (taken < slots) {
        taken += 1;
        return resolve();
      }
      const start = () => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const leave = () => {
        withdraw(queues, who, start);
        reject(signal.reason);
      };
      signal.addEventListener('abort', leave, { once: true });
      const queue = queues.get(who);
      if (queue === undefined) queues.set(who, [start]);
      else queue.push(start);
    });
  // A released slot goes straight to the next one who waits.
  const release = () => {
    const next = nextOf(queues);
    if (next === undefined) taken -= 1;
    else next();
  };
  return {
    run: async (who, signal, work) => {
      await acquire(who, signal);
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}

/** The next one to start. Who still waits for more goes to the end of the line. */
function nextOf(queues: Map<string, Waiting[]>): Waiting | undefined {
  for (const [who, queue] of queues) {
    queues.delete(who);
    const next = queue.shift();
    if (queue.length > 0) queues.set(who, queue);
    return next;
  }
  return undefined;
}

function withdraw(queues: Map<string, Waiting[]>, who: string, start: Waiting): void {
  const left = (queues.get(who) ?? []).filter((other) => other !== start);
  if (left.length > 0) queues.set(who, left);
  else queues.delete(who);
}
