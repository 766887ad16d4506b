import type { Cancellation } from '@orrery/contracts';
import { type Clock, Slots } from '@orrery/service-kit';
import type { Place } from './send-queues.js';

/** What takes longer than this makes room for what waits, in milliseconds. */
const PATIENCE_MS = 2_000;

interface Wait {
  readonly since: number;
  readonly place: Place;
  readonly giveUp: () => void;
}

/** Resolves with what the work leads to, or with `givenUp` when its place was needed first. */
export type Patience<T> = (work: Promise<T>, place: Place) => Promise<T>;

/** One timer looks after all that is waited for: one for each would cost more than the rest of a call. */
export function createPatience<T>(clock: Clock, signal: Cancellation, givenUp: T): Patience<T> {
  const waits = new Slots<Wait>();
  let isLooking = false;
  const look = async () => {
    let waiting = waits.entries();
    while (waiting.length > 0) {
      await clock.sleep(PATIENCE_MS / 2, signal);
      const before = clock.monotonic() - PATIENCE_MS;
      waiting = waits.entries();
      for (const [, { since, place, giveUp }] of waiting) if (since <= before && !place.makeRoom()) giveUp();
    }
  };
  const startLooking = () => {
    if (isLooking) return;
    isLooking = true;
    const end = () => {
      isLooking = false;
    };
    look().then(end, end);
  };
  return (work, place) =>
    new Promise<T>((resolve, reject) => {
      const end = () => waits.take(number) !== undefined;
      const number = waits.add({ since: clock.monotonic(), place, giveUp: () => end() && resolve(givenUp) });
      startLooking();
      work.then(
        (result) => {
          end();
          resolve(result);
        },
        (error) => {
          end();
          reject(error);
        },
      );
    });
}
