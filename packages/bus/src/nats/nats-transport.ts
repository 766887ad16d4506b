import { AuthorizationError } from '@nats-io/transport-node';
import { type Clock, FIRST_CONTACT, type Logger, retry, StartupError } from '@orrery/service-kit';
import { CLOSE_GRACE_MS, LAST_WORDS_MS, within } from '../in-flight/in-flight.js';
import type { Transport } from '../ports/transport.js';
import { MAX_FACT_BYTES } from '../wire/wire-format.js';
import { createAppend } from './append.js';
import { type Connection, openConnection, requireRoom, unusable } from './connection.js';
import { createNatsExchange } from './exchange.js';
import { openInbox } from './inbox.js';
import { createParts } from './parts.js';
import { startReading } from './read.js';
import { factsStream, hasNoJetStream, openStreams, type StreamLimits, type Streams } from './stream.js';
import { DEFAULT_PREFIX } from './subjects.js';

export interface NatsOptions {
  readonly url: string;
  /** The name that the NATS server and spans show. */
  readonly service: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly stream?: StreamLimits;
  /** What the subjects and the stream on NATS begin with: two installations on one server differ in it. Default `orrery`. */
  readonly subjectPrefix?: string;
  /** Ends the wait for a server that does not answer yet. */
  readonly signal?: AbortSignal;
}

/** Room for a message's headers. */
const HEADER_ROOM = 64 * 1024;

/**
 * Connects, and has JetStream hold the stream of facts. Tries for some time (`FIRST_CONTACT`) where a server may just be
 * starting or be busy.
 * @throws StartupError when the server cannot be used.
 */
export async function connectNats(options: NatsOptions): Promise<Transport> {
  const { clock, logger, signal } = options;
  const { connection, streams } = await retry(
    () => open(options),
    { ...FIRST_CONTACT, retryable: mayPass },
    {
      clock,
      onRetry: (error, tries) =>
        logger.info({ tries, reason: (error as Error).message }, 'NATS cannot be used yet; retrying'),
      ...(signal && { signal }),
    },
  );
  connection.watch({ onUp: () => void streams.ensureStream().catch(() => undefined) });
  return assemble(connection, streams, clock, logger);
}

interface Opened {
  readonly connection: Connection;
  readonly streams: Streams;
}

async function open({
  url,
  service,
  logger,
  stream = {},
  subjectPrefix = DEFAULT_PREFIX,
}: NatsOptions): Promise<Opened> {
  const connection = await openConnection(url, { service, subjectPrefix }, logger);
  const { nats } = connection;
  try {
    requireRoom(connection, MAX_FACT_BYTES + HEADER_ROOM);
    const streams = await openStreams(connection, factsStream(subjectPrefix, stream));
    await streams.ensureStream();
    return { connection, streams };
  } catch (error) {
    const where = nats.getServer();
    await nats.close();
    throw error instanceof StartupError ? error : unusable(where, error);
  }
}

/** Unlike what the operator has to change: a password, the size of messages, a server without JetStream. */
const mayPass = (error: unknown): boolean => {
  const { cause } = error as StartupError;
  return cause !== undefined && !(cause instanceof AuthorizationError) && !hasNoJetStream(cause);
};

function assemble(connection: Connection, streams: Streams, clock: Clock, logger: Logger): Transport {
  const inbox = openInbox(connection);
  const exchange = createNatsExchange(connection, inbox, createParts(connection, inbox), logger);
  const stops: (() => Promise<void>)[] = [];
  return {
    exchange,
    facts: {
      append: createAppend({ connection, inbox, streams, clock }),
      read: async (subject, options) => {
        stops.push(await startReading(subject, options, { connection, streams, clock, logger }));
      },
    },
    health: () => (connection.up ? { ok: true } : { ok: false, detail: 'NATS is away.' }),
    close: async () => {
      const calls = exchange.stop().then(() => exchange.running.untilIdle());
      await within(CLOSE_GRACE_MS, Promise.all([calls, ...stops.map((stop) => stop())]));
      exchange.running.abortAll();
      await within(LAST_WORDS_MS, exchange.running.untilIdle());
      exchange.flush();
      exchange.end();
      await within(LAST_WORDS_MS, connection.nats.drain());
      await connection.nats.close();
    },
  };
}
