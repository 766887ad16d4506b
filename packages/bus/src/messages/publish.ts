import { asServiceError, JsonText, type Message, parseOrRefuse, type ServiceError } from '@orrery/contracts';
import type { z } from 'zod';
import type { Bus } from '../ports/bus-port.js';
import type { AppendOutcome, Exchange, Fact, FactLog } from '../ports/transport.js';
import { broadcastSubject, encodeBody, injectTrace, MAX_FACT_BYTES } from '../wire/wire-format.js';

/** Messages travel with their own trace, or with the one that is active now. */
export const createPublishAll =
  (facts: FactLog): Bus['publishAll'] =>
  async (message, publications) => {
    const outcomes: AppendOutcome[] = [];
    const failedKeys = new Map<string, ServiceError>();
    const headers = injectTrace({});
    const good: Fact[] = [];
    const indexes: number[] = [];
    for (const [index, { id, orderingKey: key, payload, trace }] of publications.entries()) {
      const encoded = (key === undefined ? undefined : failedKeys.get(key)) ?? tryEncode(message, payload);
      if (typeof encoded === 'string') {
        good.push({
          id,
          key,
          headers: trace === undefined ? headers : { traceparent: trace },
          body: encoded,
        });
        indexes.push(index);
      } else if (key !== undefined) failedKeys.set(key, encoded);
      outcomes.push(typeof encoded === 'string' ? undefined : encoded);
    }
    if (good.length === 0) return outcomes;
    const stored = await facts.append(message.subject, good);
    for (const [position, index] of indexes.entries()) outcomes[index] = stored[position];
    return outcomes;
  };

function tryEncode<M extends Message>(
  message: M,
  payload: z.input<M['payload']> | JsonText,
): string | ServiceError {
  try {
    return encodePayload(message, payload);
  } catch (error) {
    return asServiceError(error);
  }
}

/** Checked before it is stored: a message that breaks its schema would become a dead letter of each consumer. */
function encodePayload<M extends Message>(message: M, payload: z.input<M['payload']> | JsonText): string {
  if (!(payload instanceof JsonText)) parseOrRefuse(message.payload, payload);
  return encodeBody(payload, MAX_FACT_BYTES);
}

export const publishOne =
  (publishAll: Bus['publishAll']): Bus['publish'] =>
  async (message, payload, options) => {
    const [error] = await publishAll(message, [{ ...options, payload }]);
    if (error !== undefined) throw error;
  };

export const createBroadcast =
  (exchange: Exchange) =>
  async <M extends Message>(message: M, payload: z.input<M['payload']>): Promise<void> => {
    const body = encodePayload(message, payload);
    await exchange.broadcast(broadcastSubject(message), { headers: injectTrace({}), body });
  };
