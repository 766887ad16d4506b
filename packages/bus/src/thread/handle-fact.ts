import type { FactDelivery, ReadOptions } from '../transport.js';
import type { CarriedFact, FactEnd } from './questions.js';

/** Sent back at once, as the same attempt: nobody here reads any more. */
const UNREAD: FactEnd = { delayMs: 0, counts: false };

/** Hands a fact to its reader here, and resolves with how it ended. */
export function handleFact(fact: CarriedFact, receive: ReadOptions['receive'] | undefined): Promise<FactEnd> {
  if (receive === undefined) return Promise.resolve(UNREAD);
  return new Promise((resolve) => {
    const delivery: FactDelivery = {
      ...fact,
      done: () => resolve({ done: true }),
      sendBack: (delayMs, counts) => resolve({ delayMs, counts }),
    };
    void receive(delivery);
  });
}
