import { LRUCache } from 'lru-cache';

/** Tells when journals grow: as it is told, and with one question per deployment however many streams wait. */
export interface HeadWatch {
  /** The journals of these deployments go so far now. */
  grew(heads: readonly (readonly [deployment: string, seq: number])[]): void;
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
/** Deployments of which the last news is remembered: it may come while a stream still sends what was before. */
const REMEMBERED = 10_000;

export function createHeadWatch(headOf: (deployment: string, known: number) => Promise<number>): HeadWatch {
  const waiting = new Map<string, Set<Waiter>>();
  const news = new LRUCache<string, number>({ max: REMEMBERED });

  const forget = (deployment: string, waiter: Waiter) => {
    const waiters = waiting.get(deployment);
    waiters?.delete(waiter);
    if (waiters?.size === 0) waiting.delete(deployment);
  };
  /** Once: were the news wrong, as after a restored database, a stream would ask for ever. */
  const isTold = (deployment: string, seq: number) =>
    (news.get(deployment) ?? 0) > seq && news.delete(deployment);
  const lookAt = async ([deployment, waiters]: [string, Set<Waiter>]) => {
    const known = Math.min(...[...waiters].map(({ seq }) => seq));
    wakeBehind(waiters, await headOf(deployment, known));
  };

  return {
    grew: (heads) => {
      for (const [deployment, head] of heads) {
        news.set(deployment, head);
        wakeBehind(waiting.get(deployment) ?? [], head);
      }
    },
    beyond: (deployment, seq, signal) =>
      new Promise((resolve) => {
        const wake = () => {
          signal.removeEventListener('abort', wake);
          forget(deployment, waiter);
          resolve();
        };
        const waiter = { seq, wake };
        if (signal.aborted || isTold(deployment, seq)) return resolve();
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

function wakeBehind(waiters: Iterable<Waiter>, head: number): void {
  for (const waiter of [...waiters]) if (waiter.seq < head) waiter.wake();
}
