import type { Clock } from '@orrery/service-kit';
import type { FactDelivery } from '../transport.js';

/** What came of a delivery: it is over, or it comes back after some time. */
export type LaneOutcome = 'over' | { backInMs: number };

interface Lane {
  /** Ends when the last delivery that has come so far has been handled. */
  tail: Promise<void>;
  queued: number;
  /** Places of the deliveries that were sent back. */
  readonly back: Set<number>;
  /** By the clock, when the first of them is expected again. */
  dueAt: number;
}

/** A delivery that waits for an earlier one comes back this long after it. */
const FOLLOWING_MS = 20;

/**
 * Handles deliveries with the same key one after the other, in the order of the log, and those with different
 * keys at once. While a delivery is away for its next attempt, later ones of its key are sent back as well
 * instead of being held here, so that one key never fills the places of the others.
 *
 * The order is kept among the deliveries of one process. After a crash, or with several processes of one
 * consumer, a delivery may overtake an earlier one; consumers that must not see that compare numbers of
 * their own.
 */
export function createLanes(handle: (delivery: FactDelivery) => Promise<LaneOutcome>, clock: Clock) {
  const lanes = new Map<string, Lane>();

  const laneOf = (key: string): Lane => {
    const lane = lanes.get(key) ?? { tail: Promise.resolve(), queued: 0, back: new Set<number>(), dueAt: 0 };
    lanes.set(key, lane);
    return lane;
  };
  const take = async (lane: Lane, delivery: FactDelivery) => {
    if (overtakes(lane, delivery)) {
      lane.back.add(delivery.seq);
      return delivery.sendBack(Math.max(0, lane.dueAt - clock.now()) + FOLLOWING_MS, false);
    }
    const outcome = await handle(delivery);
    if (outcome === 'over') {
      lane.back.delete(delivery.seq);
      return;
    }
    lane.back.add(delivery.seq);
    lane.dueAt = clock.now() + outcome.backInMs;
  };

  return async (delivery: FactDelivery): Promise<void> => {
    if (delivery.key === undefined) {
      await handle(delivery);
      return;
    }
    const lane = laneOf(delivery.key);
    lane.queued += 1;
    lane.tail = lane.tail.then(() => take(lane, delivery));
    await lane.tail;
    lane.queued -= 1;
    if (lane.queued === 0 && lane.back.size === 0) lanes.delete(delivery.key);
  };
}

function overtakes(lane: Lane, { seq }: FactDelivery): boolean {
  for (const earlier of lane.back) if (earlier < seq) return true;
  return false;
}
