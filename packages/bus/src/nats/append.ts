import { jetstream } from '@nats-io/jetstream';
import { type Clock, retry } from '@orrery/service-kit';
import type { FactLog } from '../transport.js';
import { type Connection, unavailable } from './connection.js';
import { writeFactHeaders } from './fact-headers.js';
import type { Streams } from './stream.js';

/** About four seconds in all: long enough for a server that restarts. */
const ATTEMPTS = { attempts: 7, baseMs: 100, maxMs: 1500 };
const STORE_TIMEOUT_MS = 3000;

/** Stores a fact. Each attempt after the first expects the worst: that the stream is gone. */
export function createAppend(connection: Connection, streams: Streams, clock: Clock): FactLog['append'] {
  const client = jetstream(connection.nats);
  return async (subject, fact) => {
    const store = async (attempt: number) => {
      connection.requireUp();
      if (attempt > 1) await streams.ensureStream();
      await client.publish(subject, fact.body, {
        // The server compares ids across subjects; ours are per kind of message.
        msgID: encodeURIComponent(`${subject} ${fact.id}`),
        headers: writeFactHeaders(fact),
        timeout: STORE_TIMEOUT_MS,
      });
    };
    await retry(store, ATTEMPTS, { clock }).catch((error: unknown) => {
      throw unavailable(error);
    });
  };
}
