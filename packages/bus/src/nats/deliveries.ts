import type { JsMsg } from '@nats-io/jetstream';
import type { FactDelivery } from '../transport.js';
import { readFact } from './fact-headers.js';

/** The deliveries of one consumer that this process has in work. */
export interface Deliveries {
  take(message: JsMsg): FactDelivery;
  /** Tells the server that what is in work is not lost. */
  keepAlive(): void;
}

/**
 * The server counts every delivery, also of a message that only waited for an earlier one of its key. So the
 * attempts are counted here; the server's count stands in for what a crash has made us forget.
 */
export function createDeliveries(): Deliveries {
  const attempts = new Map<number, number>();
  const inWork = new Set<JsMsg>();

  const take = (message: JsMsg): FactDelivery => {
    const { streamSequence: seq, deliveryCount } = message.info;
    const attempt = attempts.get(seq) ?? deliveryCount;
    inWork.add(message);
    return {
      ...readFact(message),
      seq,
      attempt,
      done: () => {
        inWork.delete(message);
        attempts.delete(seq);
        message.ack();
      },
      sendBack: (delayMs, counts) => {
        inWork.delete(message);
        attempts.set(seq, counts ? attempt + 1 : attempt);
        message.nak(Math.max(1, Math.round(delayMs)));
      },
    };
  };
  return {
    take,
    keepAlive: () => {
      for (const message of inWork) message.working();
    },
  };
}
