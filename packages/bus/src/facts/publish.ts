import { type Message, parseOrRefuse } from '@orrery/contracts';
import { injectTrace } from '@orrery/service-kit';
import type { z } from 'zod';
import { encodeBody, MAX_FACT_BYTES } from '../body.js';
import type { PublishOptions } from '../port.js';
import { broadcastSubject } from '../subjects.js';
import type { Exchange, FactLog } from '../transport.js';

/** Checked before it is stored: a message that breaks its schema would be parked by each of its consumers. */
function encodePayload<M extends Message>(message: M, payload: z.input<M['payload']>): string {
  parseOrRefuse(message.payload, payload);
  return encodeBody(payload, MAX_FACT_BYTES);
}

export const createPublish =
  (facts: FactLog) =>
  async <M extends Message>(
    message: M,
    payload: z.input<M['payload']>,
    { id, orderingKey }: PublishOptions,
  ): Promise<void> => {
    const body = encodePayload(message, payload);
    await facts.append(message.subject, { id, key: orderingKey, headers: injectTrace({}), body });
  };

export const createBroadcast =
  (exchange: Exchange) =>
  async <M extends Message>(message: M, payload: z.input<M['payload']>): Promise<void> => {
    const body = encodePayload(message, payload);
    await exchange.broadcast(broadcastSubject(message), { headers: injectTrace({}), body });
  };
