import { systemClock } from '@orrery/service-kit';
import { KINDS, type Perform, type Place } from './kinds.js';

export interface Load {
  /** Begins nothing more, and lets every operation under way end. */
  finish(): Promise<void>;
}

/** A client thinks this long at most between two operations, in milliseconds. */
const THINKS_MS = 100;
const DRAWN: readonly Perform[] = KINDS.flatMap(({ weight, perform }) =>
  Array<Perform>(weight).fill(perform),
);

/** So many clients, each of which does one operation after the other, of a kind that it draws. */
export function startLoad(place: Place, clients: number): Load {
  const ending = new AbortController();
  const live = async (number: number): Promise<void> => {
    const random = place.random.branch(`client ${number}`);
    while (!ending.signal.aborted) {
      await random.anyOf(DRAWN)({ ...place, random });
      await systemClock.sleep(random.whole(0, THINKS_MS));
    }
  };
  const running = Promise.all(Array.from({ length: clients }, (_, number) => live(number)));
  // Whoever finishes the load hears of it.
  running.catch(() => undefined);
  return {
    finish: async () => {
      ending.abort();
      await running;
    },
  };
}
