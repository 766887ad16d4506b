import { asServiceError, JsonText, type Message, parseOrRefuse, type ServiceError } from '@orrery/contracts';
import { injectTrace } from '@orrery/service-kit';
import type { z } from 'zod';
import { encodeBody, MAX_FACT_BYTES } from '../body.js';
import type { Bus } from '../port.js';
import { broadcastSubject } from '../subjects.js';
import type { AppendOutcome, Exchange, Fact, FactLog } from '../transport.js';

/** Checked before it is stored: a message that breaks its schema would be parked by each of its consumers. */
function encodePayload<M extends Message>(message: M, payload: z.input<M['payload']> | JsonText): string {
  if (!(payload instanceof JsonText)) parseOrRefuse(message.payload, payload);
  return encodeBody(payload, MAX_FACT_BYTES);
}

/** All travel with the trace of this moment. */
export const createPublishAll =
  (facts: FactLog): Bus['publishAll'] =>
  async (message, publications) => {
    const outcomes: AppendOutcome[] = [];
    const held = new Map<string, ServiceError>();
    const headers = injectTrace({});
    const good: Fact[] = [];
    const places: number[] = [];
    for (const [place, { id, orderingKey: key, payload }] of publications.entries()) {
      const encoded = (key === undefined ? undefined : held.get(key)) ?? tryEncode(message, payload);
      if (typeof encoded === 'string') {
        good.push({ id, key, headers, body: encoded });
        places.push(place);
      } else if (key !== undefined) held.set(key, encoded);
      outcomes.push(typeof encoded === 'string' ? undefined : encoded);
    }
    if (good.length === 0) return outcomes;
    const stored = await facts.append(message.subject, good);
    for (const [index, place] of places.entries()) outcomes[place] = stored[index];
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
