import type { Clock } from '@orrery/service-kit';
import type { FactDelivery } from '../ports/transport.js';

/** The delivery has ended, or it comes back after some time. */
export type DeliveryOutcome = 'over' | { backInMs: number };

/** The deliveries of one ordering key. */
interface OrderedQueue {
  /** Ends when the last delivery that has come so far has been handled. */
  tail: Promise<void>;
  queued: number;
  /** `seq` of the deliveries that were sent back. */
  readonly sentBack: Set<number>;
  /** By the clock, when the first of them is expected again. */
  dueAt: number;
}

/** A delivery that waits for an earlier one comes back this long after it. */
const FOLLOWING_MS = 20;

/**
 * Handles deliveries with the same key one after the other, in the order of the log, and those with different keys at
 * once. While a delivery waits for its next attempt, later ones of its key are sent back too. They are not held here, so
 * one key never takes all of the consumer's slots.
 *
 * The order is kept among the deliveries of one process. After a crash, or with several processes of one consumer, a
 * delivery may overtake an earlier one. Consumers that must not see that compare sequence numbers of their own.
 */
export function createOrderedQueues(
  handle: (delivery: FactDelivery) => Promise<DeliveryOutcome>,
  clock: Clock,
) {
  const queues = new Map<string, OrderedQueue>();

  const queueOf = (key: string): OrderedQueue => {
    const queue = queues.get(key) ?? {
      tail: Promise.resolve(),
      queued: 0,
      sentBack: new Set<number>(),
      dueAt: 0,
    };
    queues.set(key, queue);
    return queue;
  };
  const take = async (queue: OrderedQueue, delivery: FactDelivery) => {
    if (overtakes(queue, delivery)) {
      queue.sentBack.add(delivery.seq);
      return delivery.sendBack(Math.max(0, queue.dueAt - clock.monotonic()) + FOLLOWING_MS, false);
    }
    const outcome = await handle(delivery);
    if (outcome === 'over') {
      queue.sentBack.delete(delivery.seq);
      return;
    }
    queue.sentBack.add(delivery.seq);
    queue.dueAt = clock.monotonic() + outcome.backInMs;
  };

  return async (delivery: FactDelivery): Promise<void> => {
    if (delivery.key === undefined) {
      await handle(delivery);
      return;
    }
    const queue = queueOf(delivery.key);
    queue.queued += 1;
    queue.tail = queue.tail.then(() => take(queue, delivery));
    await queue.tail;
    queue.queued -= 1;
    if (queue.queued === 0 && queue.sentBack.size === 0) queues.delete(delivery.key);
  };
}

function overtakes(queue: OrderedQueue, { seq }: FactDelivery): boolean {
  for (const earlier of queue.sentBack) if (earlier < seq) return true;
  return false;
}
