import { ServiceError } from '@orrery/contracts';
import { type Clock, retry } from '@orrery/service-kit';
import type { AppendOutcome, Fact, FactLog } from '../transport.js';
import { type Connection, unavailable } from './connection.js';
import { writeFactHeaders } from './fact-headers.js';
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
 * Stores facts: the keys side by side, and of one key each only once the server has the one before it. Were they
 * sent ahead, one that gets lost on the way would be stored after its successors.
 */
export function createAppend({ connection, inbox, streams, clock }: AppendDependencies): FactLog['append'] {
  const store = async (subject: string, fact: Fact) => {
    const question = { data: Buffer.from(fact.body), headers: writeFactHeaders(subject, fact) };
    const reply = await inbox.ask(subject, question, { timeoutMs: STORE_TIMEOUT_MS, signal: undefined });
    refuseUnstored(reply.string());
  };
  /** Each attempt after the first expects the worst: that the stream is gone. */
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
  const storeLane = async (
    subject: string,
    facts: readonly Fact[],
    lane: readonly number[],
    outcomes: AppendOutcome[],
  ) => {
    let failure: ServiceError | undefined;
    for (const place of lane) {
      const fact = facts[place];
      if (fact !== undefined && failure === undefined)
        failure = await storeAgain(subject, fact).then(() => undefined, unavailable);
      outcomes[place] = failure;
    }
  };

  return async (subject, facts) => {
    const outcomes: AppendOutcome[] = facts.map(() => undefined);
    await Promise.all(lanesOf(facts).map((lane) => storeLane(subject, facts, lane, outcomes)));
    return outcomes;
  };
}

/** The places of the facts, those of one key together. */
function lanesOf(facts: readonly Fact[]): number[][] {
  const lanes = new Map<string | symbol, number[]>();
  for (const [place, { key = Symbol() }] of facts.entries()) {
    const lane = lanes.get(key);
    if (lane === undefined) lanes.set(key, [place]);
    else lane.push(place);
  }
  return [...lanes.values()];
}

/** The server answers with the place in the stream, or with an error. */
function refuseUnstored(answer: string): void {
  const { error, seq } = JSON.parse(answer) as { error?: { description?: string }; seq?: number };
  if (error !== undefined || seq === undefined)
    throw new ServiceError('unavailable', `The message was not stored: ${error?.description ?? answer}`);
}
