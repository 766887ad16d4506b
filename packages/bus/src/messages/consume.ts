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

const MAX_IN_FLIGHT = 64;
const MAX_TRIES = 10;
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
 *   handled ─ retry or throw ─→ sent back, or dead letter when it was the last try
 */
function createHandling<M extends Message>(message: M, options: ConsumeOptions<M>, logger: Logger) {
  const { consumer, maxTries = MAX_TRIES } = options;

  const settle = async (
    delivery: FactDelivery,
    verdict: Verdict,
    payload: unknown,
  ): Promise<DeliveryOutcome> => {
    if (verdict === 'ack') return done(delivery);
    if ('deadLetter' in verdict) return deadLetter(delivery, payload, verdict.deadLetter);
    if (delivery.tries >= maxTries)
      return deadLetter(delivery, payload, `${delivery.tries} attempts did not succeed`);
    return sendBack(delivery, verdict.retryInMs);
  };
  const deadLetter = async (delivery: FactDelivery, payload: unknown, reason: string) => {
    const { id, tries } = delivery;
    const facts = { message: message.name, consumer, id, tries, reason };
    logger.error(facts, 'a message is a dead letter');
    await options.onDeadLetter?.({ id, tries, payload, reason });
    return done(delivery);
  };
  const afterFailure = (delivery: FactDelivery, error: unknown): Promise<DeliveryOutcome> => {
    const { id, tries } = delivery;
    logger.warn({ err: error, message: message.name, consumer, id, tries }, 'handling a message failed');
    const verdict = { retryInMs: backoffDelay(tries, AFTER_FAILURE) };
    const payload = decodeBody(delivery.body);
    return settle(delivery, verdict, payload).catch(() => sendBack(delivery, verdict.retryInMs));
  };

  return (delivery: FactDelivery): Promise<DeliveryOutcome> =>
    withinTrace(delivery.headers, async () => {
      try {
        const read = readPayload(message, delivery.body);
        if ('reason' in read) return await deadLetter(delivery, read.payload, read.reason);
        const verdict = await options.handle(read.payload, { id: delivery.id, tries: delivery.tries });
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

/** The delivery has ended, or it comes back after some time. */
export type DeliveryOutcome = 'over' | { backInMs: number };

/** The deliveries of one ordering key. */
interface OrderedQueue {
  /** Ends when the last delivery that has come so far has been handled. */
  tail: Promise<void>;
  queued: number;
  /** `seq` of the deliveries that were sent back. */
  readonly sentBack: Set<number>;
  /** By the clock, when the first of them is expected again. */
  dueAt: number;
}

/** A delivery that waits for an earlier one comes back this long after it. */
const FOLLOWING_MS = 20;

/**
 * Handles deliveries with the same key one after the other, in the order of the log, and those with different keys at
 * once. While a delivery waits for its next try, later ones of its key are sent back too. They are not held here, so
 * one key never takes all of the consumer's slots.
 *
 * The order is kept among the deliveries of one process. After a crash, or with several processes of one consumer, a
 * delivery may overtake an earlier one. Consumers that must not see that compare sequence numbers of their own.
 */
export function createOrderedQueues(
  handle: (delivery: FactDelivery) => Promise<DeliveryOutcome>,
  clock: Clock,
) {
  const queues = new Map<string, OrderedQueue>();

  const queueOf = (key: string): OrderedQueue => {
    const queue = queues.get(key) ?? {
      tail: Promise.resolve(),
      queued: 0,
      sentBack: new Set<number>(),
      dueAt: 0,
    };
    queues.set(key, queue);
    return queue;
  };
  const take = async (queue: OrderedQueue, delivery: FactDelivery) => {
    if (overtakes(queue, delivery)) {
      queue.sentBack.add(delivery.seq);
      return delivery.sendBack(Math.max(0, queue.dueAt - clock.monotonic()) + FOLLOWING_MS, false);
    }
    const outcome = await handle(delivery);
    if (outcome === 'over') {
      queue.sentBack.delete(delivery.seq);
      return;
    }
    queue.sentBack.add(delivery.seq);
    queue.dueAt = clock.monotonic() + outcome.backInMs;
  };

  return async (delivery: FactDelivery): Promise<void> => {
    if (delivery.key === undefined) {
      await handle(delivery);
      return;
    }
    const queue = queueOf(delivery.key);
    queue.queued += 1;
    queue.tail = queue.tail.then(() => take(queue, delivery));
    await queue.tail;
    queue.queued -= 1;
    if (queue.queued === 0 && queue.sentBack.size === 0) queues.delete(delivery.key);
  };
}

function overtakes(queue: OrderedQueue, { seq }: FactDelivery): boolean {
  for (const earlier of queue.sentBack) if (earlier < seq) return true;
  return false;
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
