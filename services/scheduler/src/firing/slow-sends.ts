import type { Clock } from '@orrery/service-kit';
import type { SendSlot } from './send-queues.js';

/** What takes longer than this gives its slot to what waits, in milliseconds. */
const SLOW_MS = 2_000;

interface SlowSend {
  readonly since: number;
  readonly slot: SendSlot;
  readonly giveUp: () => void;
}

/** Resolves with what the work leads to, or with `givenUp` when its slot was needed first. */
export type AwaitSend<T> = (work: Promise<T>, slot: SendSlot) => Promise<T>;

/** One timer watches all that is waited for: one for each would cost more than the rest of a call. */
export function createSlowSends<T>(clock: Clock, signal: AbortSignal, givenUp: T): AwaitSend<T> {
  const waits = new Set<SlowSend>();
  let isWatching = false;
  const watch = async () => {
    isWatching = true;
    while (waits.size > 0) {
      await clock.sleep(SLOW_MS / 2, signal);
      const before = clock.monotonic() - SLOW_MS;
      for (const { since, slot, giveUp } of waits) if (since <= before && !slot.yieldToWaiting()) giveUp();
    }
  };
  const end = () => {
    isWatching = false;
  };
  return async (work, slot) => {
    const yielded = Promise.withResolvers<T>();
    const wait = { since: clock.monotonic(), slot, giveUp: () => yielded.resolve(givenUp) };
    waits.add(wait);
    if (!isWatching) watch().then(end, end);
    return Promise.race([work, yielded.promise]).finally(() => waits.delete(wait));
  };
}
