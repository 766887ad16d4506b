import { type Consumer, type ConsumerMessages, jetstream } from '@nats-io/jetstream';
import { type Clock, type Logger, startPollLoop } from '@orrery/service-kit';
import { createPlaces } from '../facts/places.js';
import type { ReadOptions } from '../transport.js';
import type { Connection } from './connection.js';
import { createDeliveries } from './deliveries.js';
import { ACK_WAIT_MS, STREAM, type Streams } from './stream.js';

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
 * Pulls one consumer's messages, never more than it has places for. The consumer is made anew after each
 * failure and each loss of the connection: the server may have come back empty.
 *
 * @returns how to stop, which waits for what is in work.
 */
export async function startReading(
  subject: string,
  { consumer, maxInFlight, receive, signal }: ReadOptions,
  { connection, streams, clock, logger }: ReadDependencies,
): Promise<() => Promise<void>> {
  const durable = durableName(consumer, subject);
  const client = jetstream(connection.nats);
  const places = createPlaces(maxInFlight);
  const deliveries = createDeliveries();
  let source: Consumer | undefined;
  let pulling: ConsumerMessages | undefined;

  const ensure = async () => {
    if (source !== undefined) return source;
    await streams.ensureConsumer(durable, subject);
    source = await client.consumers.get(STREAM, durable);
    return source;
  };
  const pull = async (stopping: AbortSignal) => {
    if (!connection.up) return 'idle' as const;
    await places.untilHalfFree();
    const messages = await (await ensure()).fetch({ max_messages: places.free, expires: PULL_EXPIRES_MS });
    pulling = messages;
    if (stopping.aborted) messages.stop();
    for await (const message of messages) places.take(receive(deliveries.take(message)));
    return 'more' as const;
  };
  const interrupt = () => {
    source = undefined;
    pulling?.stop();
  };

  await ensure();
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
    await places.untilEmpty();
    await alive.stop();
  };
  if (signal.aborted) await stop();
  else signal.addEventListener('abort', () => void stop(), { once: true });
  return stop;
}

/** A durable's name holds no dots. */
const durableName = (consumer: string, subject: string): string =>
  `${consumer}-${subject.replace('orrery.facts.', '')}`.replaceAll(/[^\w-]/g, '_');
