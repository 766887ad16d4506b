import { type Bus, serviceCall } from '@orrery/bus';
import { type PushesChanged, type PushRecord, runtimeContract } from '@orrery/contracts';
import type { Clock } from '@orrery/service-kit';
import { LRUCache } from 'lru-cache';

interface Waiter {
  seq: number;
  wake: () => void;
}

/** Deployments that are polled at once. */
const AT_ONCE = 32;
/** Deployments whose last broadcast head is remembered: it may arrive while a stream still sends earlier entries. */
const REMEMBERED = 10_000;

/**
 * Wakes streams when journals grow: at once by broadcasts of journal heads, otherwise by polling, with one call per
 * deployment for any number of streams.
 */
export function createHeadWatch(headOf: (deployment: string, known: number) => Promise<number>) {
  const waiting = new Map<string, Set<Waiter>>();
  const heads = new LRUCache<string, number>({ max: REMEMBERED });

  const forget = (deployment: string, waiter: Waiter) => {
    const waiters = waiting.get(deployment);
    waiters?.delete(waiter);
    if (waiters?.size === 0) waiting.delete(deployment);
  };
  /** Each head is used once: a wrong one, such as after a restored database, would make a stream read for ever. */
  const takeHeadAfter = (deployment: string, seq: number) =>
    (heads.get(deployment) ?? 0) > seq && heads.delete(deployment);
  const pollOne = async ([deployment, waiters]: [string, Set<Waiter>]) => {
    const known = Math.min(...[...waiters].map(({ seq }) => seq));
    wakeBehind(waiters, await headOf(deployment, known));
  };

  return {
    /** Takes the broadcast heads of growing journals. */
    onHeads: (grown: readonly (readonly [deployment: string, seq: number])[]) => {
      for (const [deployment, head] of grown) {
        heads.set(deployment, head);
        wakeBehind(waiting.get(deployment) ?? [], head);
      }
    },
    /** Resolves when the deployment's journal has an entry after `seq`, or the signal aborts. */
    beyond: (deployment: string, seq: number, signal: AbortSignal) =>
      new Promise<void>((resolve) => {
        const wake = () => {
          signal.removeEventListener('abort', wake);
          forget(deployment, waiter);
          resolve();
        };
        const waiter = { seq, wake };
        if (signal.aborted || takeHeadAfter(deployment, seq)) return resolve();
        signal.addEventListener('abort', wake, { once: true });
        waiting.set(deployment, (waiting.get(deployment) ?? new Set()).add(waiter));
      }),
    /** Reads the head of every deployment that a stream waits for. */
    poll: async () => {
      const all = [...waiting];
      for (let start = 0; start < all.length; start += AT_ONCE) {
        const outcomes = await Promise.allSettled(all.slice(start, start + AT_ONCE).map(pollOne));
        const failed = outcomes.find((outcome) => outcome.status === 'rejected');
        if (failed !== undefined) throw failed.reason;
      }
    },
  };
}

function wakeBehind(waiters: Iterable<Waiter>, head: number): void {
  for (const waiter of [...waiters]) if (waiter.seq < head) waiter.wake();
}

/** Tells open streams how pushes of their deployments stand. A broadcast that is lost is not repeated. */
export function createPushWatch() {
  const listeners = new Map<string, Set<(push: PushRecord) => void>>();
  return {
    onChanged: ({ deployment, pushes }: PushesChanged) => {
      for (const tell of listeners.get(deployment) ?? []) for (const push of pushes) tell(push);
    },
    /** Calls `tell` for each change from now on; the function returned ends that. */
    follow: (deployment: string, tell: (push: PushRecord) => void) => {
      const own = (listeners.get(deployment) ?? new Set()).add(tell);
      listeners.set(deployment, own);
      return () => {
        own.delete(tell);
        if (own.size === 0 && listeners.get(deployment) === own) listeners.delete(deployment);
      };
    },
  };
}

const TIMEOUT_MS = 5000;
const PAGE = 100;

/** The journal of a deployment, read as the gateway itself: the caller's access was checked when the stream opened. */
export function createJournalClient(bus: Pick<Bus, 'call'>, clock: Clock) {
  const range = (deployment: string, after: number, limit: number, signal?: AbortSignal) =>
    bus.call(
      runtimeContract.rpcs['journal.range'],
      { deployment, after, limit },
      serviceCall('gateway', clock, TIMEOUT_MS, signal),
    );
  return {
    after: (deployment: string, seq: number, signal: AbortSignal) => range(deployment, seq, PAGE, signal),
    /** The last seq of the journal; `known` is a seq that the journal contains. */
    headOf: async (deployment: string, known: number, signal?: AbortSignal) =>
      (await range(deployment, known, 1, signal)).head,
  };
}

/** Does work while a shared resource is started. */
type WhileUsed = <T>(work: () => Promise<T>) => Promise<T>;

/**
 * Starts a resource for its first user and ends it, by the signal, after the last one. The work does not wait for the
 * start and continues without the resource. A failed start is reported to `onFailed`; the next user tries again.
 */
export function createWhileUsed(
  start: (signal: AbortSignal) => Promise<void>,
  onFailed: (error: unknown) => void,
): WhileUsed {
  let users = 0;
  let current: AbortController | undefined;
  const end = () => {
    current?.abort();
    current = undefined;
  };
  const begin = () => {
    const mine = new AbortController();
    current = mine;
    start(mine.signal).catch((error: unknown) => {
      if (current !== mine) return;
      end();
      onFailed(error);
    });
  };
  return async (work) => {
    users += 1;
    if (current === undefined) begin();
    try {
      return await work();
    } finally {
      users -= 1;
      if (users === 0) end();
    }
  };
}
