import { ServiceError } from '@orrery/contracts';
import { type Clock, retry } from '@orrery/service-kit';
import type { AppendOutcome, Fact, FactLog } from '../transport.js';
import { type Connection, unavailable } from './connection.js';
import { writeFactHeaders } from './headers.js';
import type { Inbox } from './inbox.js';
import type { Streams } from './stream.js';

/** About four seconds in all: long enough for a server that restarts. */
const ATTEMPTS = { attempts: 7, baseMs: 100, maxMs: 1500 };
const STORE_TIMEOUT_MS = 3000;

interface AppendDependencies {
  readonly connection: Connection;
  readonly inbox: Inbox;
  readonly streams: Streams;
  readonly clock: Clock;
}

/**
 * Stores facts: different keys at once, and each fact of a key only after the server has stored the one before it.
 * Otherwise a fact that is lost on the way would be stored after its successors.
 */
export function createAppend({ connection, inbox, streams, clock }: AppendDependencies): FactLog['append'] {
  const store = async (subject: string, fact: Fact) => {
    const message = { data: Buffer.from(fact.body), headers: writeFactHeaders(subject, fact) };
    const reply = await inbox.request(subject, message, { timeoutMs: STORE_TIMEOUT_MS, signal: undefined });
    refuseUnstored(reply.string());
  };
  /** Each attempt after the first assumes that the stream may be gone. */
  const storeAgain = (subject: string, fact: Fact) =>
    retry(
      async (attempt) => {
        connection.requireUp();
        if (attempt > 1) await streams.ensureStream();
        await store(subject, fact);
      },
      ATTEMPTS,
      { clock },
    );
  const storeInOrder = async (
    subject: string,
    facts: readonly Fact[],
    indexes: readonly number[],
    outcomes: AppendOutcome[],
  ) => {
    let failure: ServiceError | undefined;
    for (const index of indexes) {
      const fact = facts[index];
      if (fact !== undefined && failure === undefined)
        failure = await storeAgain(subject, fact).then(() => undefined, unavailable);
      outcomes[index] = failure;
    }
  };

  return async (subject, facts) => {
    const outcomes: AppendOutcome[] = facts.map(() => undefined);
    await Promise.all(indexesByKey(facts).map((indexes) => storeInOrder(subject, facts, indexes, outcomes)));
    return outcomes;
  };
}

/** The indexes of the facts, grouped by key. A fact without a key is a group of its own. */
function indexesByKey(facts: readonly Fact[]): number[][] {
  const groups = new Map<string | symbol, number[]>();
  for (const [index, { key = Symbol() }] of facts.entries()) {
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [index]);
    else group.push(index);
  }
  return [...groups.values()];
}

/** The server answers with the position in the stream, or with an error. */
function refuseUnstored(answer: string): void {
  const { error, seq } = JSON.parse(answer) as { error?: { description?: string }; seq?: number };
  if (error !== undefined || seq === undefined)
    throw new ServiceError('unavailable', `The message was not stored: ${error?.description ?? answer}.`);
}
