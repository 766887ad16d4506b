import type { Cancellation } from '@orrery/contracts';

/** Lets a few pieces of work run at a time; the others wait in order. */
export interface Turns {
  /** Rejects with the signal's reason when it aborts before the turn comes. */
  take<T>(signal: Cancellation, work: () => Promise<T>): Promise<T>;
}

export function createTurns(atOnce: number): Turns {
  let running = 0;
  const waiting: (() => void)[] = [];
  const turn = (signal: Cancellation) =>
    new Promise<void>((resolve, reject) => {
      const start = () => {
        signal.removeEventListener('abort', giveUp);
        running += 1;
        resolve();
      };
      const giveUp = () => {
        waiting.splice(waiting.indexOf(start), 1);
        reject(signal.reason);
      };
      if (signal.aborted) return reject(signal.reason);
      if (running < atOnce) return start();
      signal.addEventListener('abort', giveUp, { once: true });
      waiting.push(start);
    });
  return {
    take: async (signal, work) => {
      await turn(signal);
      try {
        return await work();
      } finally {
        running -= 1;
        waiting.shift()?.();
      }
    },
  };
}
