import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  JetStreamApiError,
  type JetStreamManager,
  jetstreamManager,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { StartupError } from '@orrery/service-kit';
import type { Connection } from './connection.js';
import { streamName, subjectsUnder } from './subjects.js';

/** How much of the past the stream keeps; what is older is fetched from its owner. */
export interface StreamLimits {
  /** Ms. Default 7 days. */
  readonly maxAgeMs?: number;
  /** The server sets this much of its disk aside. Default 1 GiB. */
  readonly maxBytes?: number;
  /** Servers of a cluster that hold a copy. Default 1. */
  readonly replicas?: number;
}

/**
 * The server knows a message's id for this long, and up to this long again: it holds 200 bytes and more for each. What is
 * sent again for want of an answer mostly comes within seconds; consumers know what comes later by its `seq`.
 */
const DUPLICATE_WINDOW_MS = 15_000;
/** A delivery that is neither acknowledged nor said to be in work comes again after this time. */
export const ACK_WAIT_MS = 30_000;
/** Deliveries that may be away for a later try, the ones in work included. */
const MAX_ACK_PENDING = 10_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const STREAM_NAME_IN_USE = 10_058;
/** What servers from 2.10 on answer where 2.9 changes the consumer. */
const CONSUMER_EXISTS = 10_148;

type ConsumerSettings = Partial<ConsumerConfig> & { readonly name: string };
type FactsStream = Pick<StreamConfig, 'name'> & Partial<StreamConfig>;

/** The stream of all facts, as the server should have it. Only what nats-server 2.9 knows. */
export const factsStream = (
  prefix: string,
  { maxAgeMs = 7 * DAY_MS, maxBytes = 1024 ** 3, replicas = 1 }: StreamLimits,
): FactsStream => ({
  name: streamName(prefix),
  subjects: [subjectsUnder(prefix)('orrery.facts.>')],
  retention: RetentionPolicy.Limits,
  storage: StorageType.File,
  discard: DiscardPolicy.Old,
  max_age: nanos(maxAgeMs),
  max_bytes: maxBytes,
  num_replicas: replicas,
  duplicate_window: nanos(DUPLICATE_WINDOW_MS),
});

/** A consumer of the facts of one subject, as the server should have it. Only what nats-server 2.9 knows. */
const factsConsumer = (durable: string, subject: string): ConsumerSettings => ({
  // With its name the request's subject holds the filter too, so that users can be bound to it.
  name: durable,
  durable_name: durable,
  filter_subject: subject,
  ack_policy: AckPolicy.Explicit,
  deliver_policy: DeliverPolicy.All,
  ack_wait: nanos(ACK_WAIT_MS),
  max_deliver: -1,
  max_ack_pending: MAX_ACK_PENDING,
});

/** What JetStream must hold for us. Made, or changed to what it should be, at each start and whenever it is missing. */
export type Streams = Awaited<ReturnType<typeof openStreams>>;

/** @throws StartupError when the server runs without JetStream. */
export async function openStreams(connection: Connection, stream: FactsStream) {
  const { nats, named } = connection;
  const manager = await jetstreamManager(nats).catch((error: unknown) => {
    if (!hasNoJetStream(error)) throw error;
    const advice = 'start it with JetStream (nats-server -js)';
    throw new StartupError(`NATS at ${nats.getServer()} has no JetStream: ${advice}.`, { cause: error });
  });
  const ensure = () => ensureStream(manager, stream);
  return {
    name: stream.name,
    ensureStream: ensure,
    ensureConsumer: async (durable: string, subject: string): Promise<void> => {
      await ensure();
      await ensureConsumer(manager, stream.name, factsConsumer(durable, named(subject)));
    },
  };
}

/** The client does not export the error's class. */
export const hasNoJetStream = (error: unknown): boolean =>
  error instanceof Error && error.name === 'JetStreamNotEnabled';

async function ensureStream(manager: JetStreamManager, stream: FactsStream): Promise<void> {
  try {
    await manager.streams.add(stream);
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === STREAM_NAME_IN_USE)) throw error;
    await manager.streams.update(stream.name, stream);
  }
}

async function ensureConsumer(
  manager: JetStreamManager,
  stream: string,
  consumer: ConsumerSettings,
): Promise<void> {
  try {
    await manager.consumers.add(stream, consumer);
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === CONSUMER_EXISTS)) throw error;
    await manager.consumers.update(stream, consumer.name, consumer);
  }
}
