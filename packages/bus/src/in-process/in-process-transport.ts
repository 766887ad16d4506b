import { CLOSE_GRACE_MS, within } from '../closing.js';
import type { Transport } from '../transport.js';
import { createInProcessExchange } from './exchange.js';
import type { InProcessHub } from './hub.js';

/** One service's bus on a shared hub. */
export function joinHub({ switchboard, facts }: InProcessHub): Transport {
  const exchange = createInProcessExchange(switchboard);
  const stops: (() => Promise<void>)[] = [];
  return {
    exchange,
    facts: {
      append: facts.append,
      read: async (subject, options) => {
        stops.push(await facts.read(subject, options));
      },
    },
    health: () => ({ ok: true }),
    close: async () => {
      exchange.stop();
      await within(
        CLOSE_GRACE_MS,
        Promise.all([exchange.running.untilIdle(), ...stops.map((stop) => stop())]),
      );
      exchange.running.abortAll();
    },
  };
}
