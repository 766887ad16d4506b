/** Tells when journals grow, with one question per deployment however many streams wait. */
export interface HeadWatch {
  /** Resolves when the deployment's journal goes beyond `seq`, or the signal aborts. */
  beyond(deployment: string, seq: number, signal: AbortSignal): Promise<void>;
  /** Asks once for every deployment that is waited for. */
  look(): Promise<void>;
}

interface Waiter {
  seq: number;
  wake: () => void;
}

/** Deployments asked for at once. */
const AT_ONCE = 32;

export function createHeadWatch(headOf: (deployment: string, known: number) => Promise<number>): HeadWatch {
  const waiting = new Map<string, Set<Waiter>>();

  const forget = (deployment: string, waiter: Waiter) => {
    const waiters = waiting.get(deployment);
    waiters?.delete(waiter);
    if (waiters?.size === 0) waiting.delete(deployment);
  };
  const lookAt = async ([deployment, waiters]: [string, Set<Waiter>]) => {
    const known = Math.min(...[...waiters].map(({ seq }) => seq));
    const head = await headOf(deployment, known);
    for (const waiter of [...waiters]) if (waiter.seq < head) waiter.wake();
  };

  return {
    beyond: (deployment, seq, signal) =>
      new Promise((resolve) => {
        const wake = () => {
          signal.removeEventListener('abort', wake);
          forget(deployment, waiter);
          resolve();
        };
        const waiter = { seq, wake };
        if (signal.aborted) return resolve();
        signal.addEventListener('abort', wake, { once: true });
        waiting.set(deployment, (waiting.get(deployment) ?? new Set()).add(waiter));
      }),
    look: async () => {
      const all = [...waiting];
      for (let start = 0; start < all.length; start += AT_ONCE) {
        const outcomes = await Promise.allSettled(all.slice(start, start + AT_ONCE).map(lookAt));
        const failed = outcomes.find((outcome) => outcome.status === 'rejected');
        if (failed !== undefined) throw failed.reason;
      }
    },
  };
}
