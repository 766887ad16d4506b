import {
  asServiceError,
  JsonText,
  type JsonValue,
  type Message,
  type PayloadOf,
  parseOrRefuse,
  problemsOf,
  type ServiceError,
} from '@orrery/contracts';
import { backoffDelay, type Logger } from '@orrery/service-kit';
import type { z } from 'zod';
import type { Bus, ConsumeOptions } from '../ports/bus-port.js';
import type { AppendOutcome, Exchange, Fact, FactDelivery, FactLog } from '../ports/transport.js';
import {
  broadcastSubject,
  decodeBody,
  decodeUntrusted,
  encodeBody,
  injectTrace,
  MAX_FACT_BYTES,
  unsafeJsonIn,
  withinTrace,
} from '../wire/wire-format.js';

const MAX_TRIES = 10;
/** Pauses after a handler threw. */
const AFTER_FAILURE = { baseMs: 500, maxMs: 60_000 };

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

/** Consumes stored messages. */
export const createConsume =
  (facts: FactLog, logger: Logger) =>
  async <M extends Message>(message: M, options: ConsumeOptions<M>): Promise<void> => {
    const { consumer, signal } = options;
    if (signal.aborted) return;
    const receive = inOrderOfKeys(createHandling(message, options, logger));
    await facts.read(message.subject, { consumer, receive, signal });
  };

type Receive = (delivery: FactDelivery) => Promise<void>;

/** Handles one delivery, and says what is to become of it. Never rejects. */
function createHandling<M extends Message>(
  message: M,
  { consumer, handle }: ConsumeOptions<M>,
  logger: Logger,
): Receive {
  return (delivery) =>
    withinTrace(delivery.headers, async () => {
      const { id, tries } = delivery;
      const facts = { message: message.name, consumer, id, tries };
      const setAside = (reason: string) => {
        logger.error({ ...facts, reason }, 'a message is a dead letter');
        delivery.done();
      };
      try {
        const read = readPayload(message, delivery.body);
        if ('reason' in read) return setAside(read.reason);
        await handle(read.payload);
        delivery.done();
      } catch (error) {
        logger.warn({ err: error, ...facts }, 'handling a message failed');
        if (tries >= MAX_TRIES) setAside(`${tries} attempts did not succeed`);
        else delivery.sendBack(backoffDelay(tries, AFTER_FAILURE));
      }
    });
}

/** A retry does not make a payload readable, so it becomes a dead letter at once. */
function readPayload<M extends Message>(
  message: M,
  body: string,
): { payload: PayloadOf<M> } | { reason: string } {
  const payload: JsonValue = decodeBody(body);
  const unsafe = unsafeJsonIn(payload);
  if (unsafe !== undefined) return { reason: `${unsafe.pointer}: ${unsafe.message}` };
  const parsed = message.payload.safeParse(payload);
  if (parsed.success) return { payload: parsed.data as PayloadOf<M> };
  const [problem] = problemsOf(parsed.error);
  return { reason: `${problem?.pointer}: ${problem?.message}` };
}

/** Handles deliveries with the same key one after the other, in the order of the log, and others at once. */
export function inOrderOfKeys(handle: Receive): Receive {
  /** The end of the last delivery of each key that has come so far. */
  const tails = new Map<string, Promise<void>>();
  return async (delivery) => {
    const { key } = delivery;
    if (key === undefined) return handle(delivery);
    const tail = (tails.get(key) ?? Promise.resolve()).then(() => handle(delivery));
    tails.set(key, tail);
    await tail;
    if (tails.get(key) === tail) tails.delete(key);
  };
}

/** Receives broadcasts. One that cannot be read, or whose handling fails, is logged and dropped. */
export const createListen =
  (exchange: Exchange, logger: Logger) =>
  async <M extends Message>(message: M, handle: (payload: PayloadOf<M>) => void, signal: AbortSignal) => {
    if (signal.aborted) return;
    await exchange.listen(
      broadcastSubject(message),
      ({ headers, body }) => {
        try {
          const payload = parseOrRefuse(message.payload, decodeUntrusted(body)) as PayloadOf<M>;
          withinTrace(headers, () => handle(payload));
        } catch (error) {
          logger.warn({ err: error, message: message.name }, 'a broadcast was not handled');
        }
      },
      signal,
    );
  };
