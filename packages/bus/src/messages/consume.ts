import { type JsonValue, type Message, type PayloadOf, parseOrRefuse, problemsOf } from '@orrery/contracts';
import { backoffDelay, type Clock, type Logger } from '@orrery/service-kit';
import type { ConsumeOptions, Verdict } from '../ports/bus-port.js';
import type { Exchange, FactDelivery, FactLog } from '../ports/transport.js';
import {
  broadcastSubject,
  decodeBody,
  decodeUntrusted,
  unsafeJsonIn,
  withinTrace,
} from '../wire/wire-format.js';
import { createOrderedQueues, type DeliveryOutcome } from './ordered-queues.js';

const MAX_IN_FLIGHT = 64;
const MAX_ATTEMPTS = 10;
/** Pauses after a handler threw, or after a dead letter could not be stored. */
const AFTER_FAILURE = { baseMs: 500, maxMs: 60_000 };

/** Consumes stored messages. */
export const createConsume =
  (facts: FactLog, clock: Clock, logger: Logger) =>
  async <M extends Message>(message: M, options: ConsumeOptions<M>): Promise<void> => {
    if (options.signal.aborted) return;
    await facts.read(message.subject, {
      consumer: options.consumer,
      maxInFlight: options.maxInFlight ?? MAX_IN_FLIGHT,
      receive: createOrderedQueues(createHandling(message, options, logger), clock),
      signal: options.signal,
    });
  };

/**
 * One delivery, from its text to its end:
 *
 *   unreadable ──────────────────────────────────→ dead letter
 *   handled ─ ack ─→ done      handled ─ deadLetter ─→ dead letter ─ stored by onDeadLetter ─→ done
 *   handled ─ retry or throw ─→ sent back, or dead letter when it was the last attempt
 */
function createHandling<M extends Message>(message: M, options: ConsumeOptions<M>, logger: Logger) {
  const { consumer, maxAttempts = MAX_ATTEMPTS } = options;

  const settle = async (
    delivery: FactDelivery,
    verdict: Verdict,
    payload: unknown,
  ): Promise<DeliveryOutcome> => {
    if (verdict === 'ack') return done(delivery);
    if ('deadLetter' in verdict) return deadLetter(delivery, payload, verdict.deadLetter);
    if (delivery.attempt >= maxAttempts)
      return deadLetter(delivery, payload, `${delivery.attempt} attempts did not succeed`);
    return sendBack(delivery, verdict.retryInMs);
  };
  const deadLetter = async (delivery: FactDelivery, payload: unknown, reason: string) => {
    const { id, attempt } = delivery;
    const facts = { message: message.name, consumer, id, attempt, reason };
    logger.error(facts, 'a message is a dead letter');
    await options.onDeadLetter?.({ id, attempt, payload, reason });
    return done(delivery);
  };
  const afterFailure = (delivery: FactDelivery, error: unknown): Promise<DeliveryOutcome> => {
    const { id, attempt } = delivery;
    logger.warn({ err: error, message: message.name, consumer, id, attempt }, 'handling a message failed');
    const verdict = { retryInMs: backoffDelay(attempt, AFTER_FAILURE) };
    const payload = decodeBody(delivery.body);
    return settle(delivery, verdict, payload).catch(() => sendBack(delivery, verdict.retryInMs));
  };

  return (delivery: FactDelivery): Promise<DeliveryOutcome> =>
    withinTrace(delivery.headers, async () => {
      try {
        const read = readPayload(message, delivery.body);
        if ('reason' in read) return await deadLetter(delivery, read.payload, read.reason);
        const verdict = await options.handle(read.payload, { id: delivery.id, attempt: delivery.attempt });
        return await settle(delivery, verdict, read.payload);
      } catch (error) {
        return await afterFailure(delivery, error);
      }
    });
}

function done(delivery: FactDelivery): DeliveryOutcome {
  delivery.done();
  return 'over';
}

function sendBack(delivery: FactDelivery, backInMs: number): DeliveryOutcome {
  delivery.sendBack(backInMs, true);
  return { backInMs };
}

/** A retry does not make a payload readable, so it becomes a dead letter at once. */
function readPayload<M extends Message>(
  message: M,
  body: string,
): { payload: PayloadOf<M> } | { payload: JsonValue; reason: string } {
  const payload = decodeBody(body);
  const unsafe = unsafeJsonIn(payload);
  if (unsafe !== undefined) return { payload, reason: `${unsafe.pointer}: ${unsafe.message}` };
  const parsed = message.payload.safeParse(payload);
  if (parsed.success) return { payload: parsed.data as PayloadOf<M> };
  const [problem] = problemsOf(parsed.error);
  return { payload, reason: `${problem?.pointer}: ${problem?.message}` };
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
