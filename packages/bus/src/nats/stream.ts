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
} from '@nats-io/jetstream';
import { nanos } from '@nats-io/transport-node';
import { StartupError } from '@orrery/service-kit';
import type { Connection } from './connection.js';

export const STREAM = 'ORRERY_FACTS';

/** How much of the past the stream keeps; what is older is fetched from its owner. */
export interface StreamLimits {
  /** Ms. Default 7 days. */
  readonly maxAgeMs?: number;
  /** The server sets this much of its disk aside. Default 1 GiB. */
  readonly maxBytes?: number;
  /** Servers of a cluster that hold a copy. Default 1. */
  readonly replicas?: number;
}

/** The server knows a message's id for this long. */
const DUPLICATE_WINDOW_MS = 2 * 60 * 1000;
/** A delivery that is neither acknowledged nor said to be in work comes again after this time. */
export const ACK_WAIT_MS = 30_000;
/** Deliveries that may be away for a later attempt, the ones in work included. */
const MAX_ACK_PENDING = 10_000;
const DAY_MS = 24 * 60 * 60 * 1000;
const NAME_IN_USE = 10_058;

/** What JetStream must hold for us. Both are made again whenever they are found missing; repeating does no harm. */
export interface Streams {
  ensureStream(): Promise<void>;
  ensureConsumer(durable: string, subject: string): Promise<void>;
}

/** @throws StartupError when the server runs without JetStream. */
export async function openStreams(connection: Connection, limits: StreamLimits): Promise<Streams> {
  const { nats } = connection;
  const manager = await jetstreamManager(nats).catch((error: unknown) => {
    const advice = 'start it with JetStream (nats-server -js)';
    throw new StartupError(`NATS at ${nats.getServer()} has no JetStream: ${advice}.`, { cause: error });
  });
  const streams: Streams = {
    ensureStream: () => ensureStream(manager, limits),
    ensureConsumer: async (durable, subject) => {
      await streams.ensureStream();
      await manager.consumers.add(STREAM, consumerConfig(durable, subject));
    },
  };
  return streams;
}

async function ensureStream(manager: JetStreamManager, limits: StreamLimits): Promise<void> {
  const config = {
    subjects: ['orrery.facts.>'],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.Old,
    max_age: nanos(limits.maxAgeMs ?? 7 * DAY_MS),
    max_bytes: limits.maxBytes ?? 1024 ** 3,
    num_replicas: limits.replicas ?? 1,
    duplicate_window: nanos(DUPLICATE_WINDOW_MS),
  };
  try {
    await manager.streams.add({ name: STREAM, ...config });
  } catch (error) {
    if (!(error instanceof JetStreamApiError && error.code === NAME_IN_USE)) throw error;
    await manager.streams.update(STREAM, config);
  }
}

/** Only what nats-server 2.9 knows. */
const consumerConfig = (durable: string, subject: string): Partial<ConsumerConfig> => ({
  durable_name: durable,
  filter_subject: subject,
  ack_policy: AckPolicy.Explicit,
  deliver_policy: DeliverPolicy.All,
  ack_wait: nanos(ACK_WAIT_MS),
  max_deliver: -1,
  max_ack_pending: MAX_ACK_PENDING,
});
