import { type Consumer, type ConsumerMessages, type JsMsg, jetstream } from '@nats-io/jetstream';
import { type Clock, FIRST_CONTACT, type Logger, retry, startPollLoop } from '@orrery/service-kit';
import { MAX_IN_FLIGHT, WorkSlots } from '../in-flight/in-flight.js';
import type { FactDelivery, ReadOptions } from '../ports/transport.js';
import type { Connection } from './connection.js';
import { readFact } from './headers.js';
import { ACK_WAIT_MS, type Streams } from './stream.js';
import { durableName } from './subjects.js';

export interface ReadDependencies {
  readonly connection: Connection;
  readonly streams: Streams;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** A pull that found nothing is repeated after this time. */
const PULL_EXPIRES_MS = 5000;
const MAX_BACKOFF_MS = 2000;

/**
 * Pulls one consumer's messages, never more than it has free slots for. The consumer is created again after each
 * failure and each loss of the connection, because the server may have come back empty.
 *
 * @returns how to stop, which waits for messages in work.
 */
export async function startReading(
  subject: string,
  { consumer, receive, signal }: ReadOptions,
  { connection, streams, clock, logger }: ReadDependencies,
): Promise<() => Promise<void>> {
  const durable = durableName(consumer, subject);
  const client = jetstream(connection.nats);
  const slots = new WorkSlots(MAX_IN_FLIGHT);
  const deliveries = createDeliveries();
  let source: Consumer | undefined;
  let pulling: ConsumerMessages | undefined;

  const ensure = async () => {
    if (source !== undefined) return source;
    await streams.ensureConsumer(durable, subject);
    source = await client.consumers.get(streams.name, durable);
    return source;
  };
  const pull = async (stopping: AbortSignal) => {
    if (!connection.up) return 'idle' as const;
    await slots.untilHalfFree();
    const messages = await (await ensure()).fetch({ max_messages: slots.free, expires: PULL_EXPIRES_MS });
    pulling = messages;
    if (stopping.aborted) messages.stop();
    for await (const message of messages) slots.take(receive(deliveries.take(message)));
    return 'more' as const;
  };
  const interrupt = () => {
    source = undefined;
    pulling?.stop();
  };

  await retry(ensure, FIRST_CONTACT, { clock, signal });
  const loop = startPollLoop({
    name: `messages of ${durable}`,
    intervalMs: 100,
    maxBackoffMs: MAX_BACKOFF_MS,
    runOnce: (stopping) =>
      pull(stopping).catch((error: unknown) => {
        source = undefined;
        throw error;
      }),
    clock,
    logger,
    signal,
  });
  connection.watch({ onDown: interrupt, onUp: loop.wake });
  const alive = startPollLoop({
    name: `work of ${durable}`,
    intervalMs: ACK_WAIT_MS / 3,
    runOnce: async () => {
      deliveries.keepAlive();
      return 'idle';
    },
    clock,
    logger,
  });
  const stop = async () => {
    pulling?.stop();
    await loop.stop();
    await slots.untilEmpty();
    await alive.stop();
  };
  if (signal.aborted) await stop();
  else signal.addEventListener('abort', () => void stop(), { once: true });
  return stop;
}

/** The messages in work. */
export function createDeliveries() {
  const inWork = new Set<JsMsg>();
  return {
    take: (message: JsMsg): FactDelivery => {
      inWork.add(message);
      return {
        ...readFact(message),
        tries: message.info.deliveryCount,
        done: () => {
          inWork.delete(message);
          message.ack();
        },
        sendBack: (delayMs) => {
          inWork.delete(message);
          message.nak(Math.max(1, Math.round(delayMs)));
        },
      };
    },
    /** Extends the server's acknowledgement deadline of the messages in work. */
    keepAlive: () => {
      for (const message of inWork) message.working();
    },
  };
}
