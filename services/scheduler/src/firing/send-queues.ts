import type { Clock } from '@orrery/service-kit';
import type { ClaimedOccurrence } from '../core/occurrences/occurrence.js';

/**
 * Where an occurrence waits to be sent:
 *
 *   fresh    it is due and was never sent
 *   again    its outcome is not known, or its next attempt is due
 *   manual   somebody waits for it
 *
 * Each queue has slots of its own, so what is slow or unknown does not keep what is due from being sent.
 */
export type QueueName = 'fresh' | 'again' | 'manual';

/** `takenAt`: by the clock of this process, in milliseconds. */
export interface Taken {
  readonly occurrence: ClaimedOccurrence;
  readonly takenAt: number;
}

/** A slot among the occurrences that are sent at once. */
export interface SendSlot {
  release(): void;
  /** Goes from `fresh` to `again` if a slot is free there, else it is released. Tells whether one is held then. */
  demote(): boolean;
  /** As `demote`, if others wait in its queue for a slot; of `again` it is released then. */
  yieldToWaiting(): boolean;
}

export interface SendQueues {
  /** How many more occurrences to claim: many or none, because a claim of a few costs as much as one of many. */
  room(name: QueueName): number;
  add(name: QueueName, taken: readonly Taken[]): void;
  isWaiting(id: number): boolean;
  /** Removes what waits. */
  clear(): Taken[];
}

interface Queue {
  readonly slots: number;
  /** Occurrences that may wait. */
  readonly mayWait: number;
  /** Slots are given when so many are free, and at most so many together. */
  readonly leastBurst: number;
  readonly mostBurst: number;
  readonly waiting: Taken[];
  sent: number;
}

/** Occurrences that wait at most, for each slot, and for how long at the rate at which they are sent, in seconds. */
const WAITING_PER_SLOT = 4;
const WAITING_SECONDS = 1 / 2;
/**
 * Share of the slots that are given together. What is sent in one turn of the event loop is carried, executed, committed and
 * recorded together, which costs each occurrence a fraction of what it costs alone.
 */
const BURST = 1 / 2;
/**
 * Where the rate leaves time, as many are sent together as it allows for in this many milliseconds. Everyone else's executions
 * wait while the runtime executes and commits them, so they are few and come often.
 */
const PACE_MS = 40;
/** Slots for what is sent again, for each slot for what is sent for the first time. */
const AGAIN_SHARE = 1 / 4;

export interface Bounds {
  /** Occurrences that are sent for the first time at once. */
  readonly concurrency: number;
  /** Occurrences that are sent for the first time in a second. */
  readonly perSecond: number;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

/** `send` must not throw; `onSent` is called after some were sent together. */
export function createSendQueues(
  { concurrency, perSecond, clock, signal }: Bounds,
  send: (taken: Taken, slot: SendSlot) => void,
  onSent: () => void = () => undefined,
): SendQueues {
  const queues: Record<QueueName, Queue> = {
    fresh: queueOf(concurrency, BURST, perSecond),
    again: queueOf(Math.ceil(concurrency * AGAIN_SHARE), BURST),
    manual: queueOf(concurrency, 0),
  };
  const { fresh, again } = queues;
  const mustRest = createRest(clock, signal, () => fill(fresh));
  const fill = (queue: Queue) => {
    const { slots, mostBurst, waiting } = queue;
    if (waiting.length === 0 || isFull(queue)) return;
    if (queue === fresh && mustRest()) return;
    const given = waiting.splice(0, Math.min(mostBurst, slots - queue.sent));
    if (queue === fresh) mustRest.after((given.length * 1000) / perSecond);
    queue.sent += given.length;
    for (const taken of given) send(taken, slotIn(queue));
    onSent();
    // Who waits now is sent when the rate allows for it, even if no slot has become free until then.
    fill(queue);
  };
  const slotIn = (first: Queue): SendSlot => {
    let queue: Queue | undefined = first;
    const release = () => {
      const left = queue;
      queue = undefined;
      if (left === undefined) return;
      left.sent -= 1;
      fill(left);
    };
    const demote = () => {
      if (queue === fresh) {
        release();
        if (again.sent < again.slots) {
          queue = again;
          again.sent += 1;
        }
      }
      return queue !== undefined;
    };
    const yieldToWaiting = () => {
      if (queue === undefined || !isFull(queue)) return queue !== undefined;
      if (queue === again) release();
      return demote();
    };
    return { release, demote, yieldToWaiting };
  };
  return {
    room: (name) => {
      const { waiting, mayWait } = queues[name];
      return waiting.length > mayWait / 2 ? 0 : mayWait - waiting.length;
    },
    add: (name, taken) => {
      queues[name].waiting.push(...taken);
      fill(queues[name]);
    },
    isWaiting: (id) =>
      Object.values(queues).some(({ waiting }) => waiting.some(({ occurrence }) => occurrence.id === id)),
    clear: () => Object.values(queues).flatMap(({ waiting }) => waiting.splice(0)),
  };
}

function queueOf(slots: number, share: number, perSecond = Number.POSITIVE_INFINITY): Queue {
  const mostBurst = Math.max(1, Math.min(slots, Math.round((perSecond * PACE_MS) / 1000)));
  const leastBurst = Math.max(1, Math.min(mostBurst, Math.ceil(slots * share)));
  const mayWait = Math.min(slots * WAITING_PER_SLOT, Math.ceil(perSecond * WAITING_SECONDS));
  return { slots, leastBurst, mostBurst, mayWait, waiting: [], sent: 0 };
}

/** Whether what waits has to wait for slots. */
const isFull = ({ slots, sent, leastBurst, waiting }: Queue): boolean =>
  waiting.length > 0 && slots - sent < leastBurst;

/** Whether it is too early to send more; `onOver` is called when it no longer is. */
interface Rest {
  (): boolean;
  /** It is, for so many milliseconds. */
  after(ms: number): void;
}

function createRest(clock: Clock, signal: AbortSignal, onOver: () => void): Rest {
  let until = Number.NEGATIVE_INFINITY;
  let isResting = false;
  const rest = async (ms: number) => {
    isResting = true;
    await clock.sleep(ms, signal).finally(() => {
      isResting = false;
    });
    onOver();
  };
  const mustRest = () => {
    const left = until - clock.monotonic();
    if (left > 0 && !isResting) rest(left).catch(() => undefined);
    return left > 0;
  };
  const after = (ms: number) => {
    const now = clock.monotonic();
    // That a timer fires a little late does not lower the rate.
    until = (now - until < PACE_MS ? until : now) + ms;
  };
  return Object.assign(mustRest, { after });
}
