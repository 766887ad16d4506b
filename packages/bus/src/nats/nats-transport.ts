import type { Clock, Logger } from '@orrery/service-kit';
import { CLOSE_GRACE_MS, LAST_WORDS_MS, within } from '../closing.js';
import type { Transport } from '../transport.js';
import { MAX_FACT_BYTES } from '../wire-format.js';
import { createAppend } from './append.js';
import { openConnection, requireRoom } from './connection.js';
import { createNatsExchange } from './exchange.js';
import { openInbox } from './inbox.js';
import { createParts } from './parts.js';
import { startReading } from './read.js';
import { factsStream, openStreams, type StreamLimits } from './stream.js';
import { DEFAULT_PREFIX } from './subjects.js';

export interface NatsOptions {
  readonly url: string;
  readonly service: string;
  readonly logger: Logger;
  readonly clock: Clock;
  readonly stream?: StreamLimits;
  /** What the subjects of this installation begin with. Default `orrery`. */
  readonly subjectPrefix?: string;
}

/** Room for a message's headers. */
const HEADER_ROOM = 64 * 1024;

/** @throws StartupError when the server cannot be used. */
export async function connectNats({
  url,
  service,
  logger,
  clock,
  stream = {},
  subjectPrefix = DEFAULT_PREFIX,
}: NatsOptions): Promise<Transport> {
  const connection = await openConnection(url, { service, subjectPrefix }, logger);
  const { nats } = connection;
  try {
    requireRoom(connection, MAX_FACT_BYTES + HEADER_ROOM);
    const streams = await openStreams(connection, factsStream(subjectPrefix, stream));
    await streams.ensureStream();
    connection.watch({ onUp: () => void streams.ensureStream().catch(() => undefined) });
    return assemble(connection, streams, clock, logger);
  } catch (error) {
    await nats.close();
    throw error;
  }
}

function assemble(
  connection: Awaited<ReturnType<typeof openConnection>>,
  streams: Awaited<ReturnType<typeof openStreams>>,
  clock: Clock,
  logger: Logger,
): Transport {
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
