import type { Offer } from '../wallets/payer.js';

/** An offer that waits for the player's word. */
export interface Asked {
  readonly id: number;
  /** What is paid for. */
  readonly event: string;
  readonly offer: Offer;
  readonly answer: (isPaid: boolean) => void;
}

type Ask = (event: string, offer: Offer) => Promise<boolean>;

/** Asks the player about offers in the order in which they come. `show` is told of the one that is asked about. */
export function createAsking(show: (asked: Asked | undefined) => void): Ask {
  const waiting: Asked[] = [];
  let last = 0;
  return (event, offer) =>
    new Promise((resolve) => {
      last += 1;
      const id = last;
      const answer = (isPaid: boolean) => {
        waiting.splice(0, waiting.length, ...waiting.filter((one) => one.id !== id));
        show(waiting[0]);
        resolve(isPaid);
      };
      waiting.push({ id, event, offer, answer });
      show(waiting[0]);
    });
}
