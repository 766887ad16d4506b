import { ServiceError } from '@orrery/contracts';
import { type Clock, retry } from '@orrery/service-kit';
import type { AppendOutcome, Fact, FactLog } from '../ports/transport.js';
import type { Connection } from './connection.js';
import { writeFactHeaders } from './headers.js';
import type { Inbox } from './inbox.js';
import type { Streams } from './stream.js';

/** About four seconds in all: long enough for a server that restarts. */
const TRIES = { attempts: 7, baseMs: 100, maxMs: 1500 };
const STORE_TIMEOUT_MS = 3000;
/** Facts of one key that are on their way at once. */
const WINDOW = 64;

interface AppendDependencies {
  readonly connection: Pick<Connection, 'requireUp' | 'named'>;
  readonly inbox: Pick<Inbox, 'request'>;
  readonly streams: Pick<Streams, 'ensureStream'>;
  readonly clock: Clock;
}

/**
 * Stores facts: different keys at once, and those of a key in windows, whose facts are sent in order without waiting for
 * each other. The server stores what one connection sends in the order of sending. After a failure the fact that failed
 * and all later ones of its window are sent again; the server recognizes those that it has stored by their ids.
 */
export function createAppend({ connection, inbox, streams, clock }: AppendDependencies): FactLog['append'] {
  const store = async (subject: string, fact: Fact) => {
    const message = { data: Buffer.from(fact.body), headers: writeFactHeaders(subject, fact) };
    const reply = await inbox.request(connection.named(subject), message, {
      timeoutMs: STORE_TIMEOUT_MS,
      signal: undefined,
    });
    refuseUnstored(reply.string());
  };
  /** Resolves with how many of the first facts are stored, and with why the next one is not. */
  const storeWindow = async (subject: string, facts: readonly Fact[]) => {
    const outcomes = await Promise.all(
      facts.map((fact) => store(subject, fact).then(() => undefined, unavailable)),
    );
    const failed = outcomes.findIndex((outcome) => outcome !== undefined);
    return failed < 0
      ? { stored: facts.length, failure: undefined }
      : { stored: failed, failure: outcomes[failed] };
  };
  /** Each try after the first assumes that the stream may be gone. */
  const storeInOrder = async (subject: string, facts: readonly Fact[]) => {
    let stored = 0;
    const next = async (tries: number) => {
      connection.requireUp();
      if (tries > 1) await streams.ensureStream();
      const window = await storeWindow(subject, facts.slice(stored, stored + WINDOW));
      stored += window.stored;
      if (window.failure !== undefined) throw window.failure;
    };
    try {
      while (stored < facts.length) await retry(next, TRIES, { clock });
      return { stored, failure: undefined };
    } catch (error) {
      return { stored, failure: unavailable(error) };
    }
  };

  return async (subject, facts) => {
    const outcomes: AppendOutcome[] = facts.map(() => undefined);
    const storeKey = async (group: readonly Indexed[]) => {
      const { stored, failure } = await storeInOrder(
        subject,
        group.map(({ fact }) => fact),
      );
      for (const { index } of group.slice(stored)) outcomes[index] = failure;
    };
    await Promise.all(Array.from(groupByKey(facts), storeKey));
    return outcomes;
  };
}

interface Indexed {
  readonly fact: Fact;
  readonly index: number;
}

/** The facts by key, each with its index. A fact without a key is a group of its own. */
function groupByKey(facts: readonly Fact[]): Iterable<Indexed[]> {
  const indexed = facts.map((fact, index) => ({ fact, index }));
  return Map.groupBy(indexed, ({ fact }) => fact.key ?? Symbol()).values();
}

const unavailable = (cause: unknown): ServiceError =>
  new ServiceError('unavailable', 'The message bus is away.', { cause });

/** The server answers with the position in the stream, or with an error. */
function refuseUnstored(answer: string): void {
  const { error, seq } = JSON.parse(answer) as { error?: { description?: string }; seq?: number };
  if (error !== undefined || seq === undefined)
    throw new ServiceError('unavailable', `The message was not stored: ${error?.description ?? answer}.`);
}
