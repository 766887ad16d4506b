import { ServiceError } from '@orrery/contracts';
import {
  backoffDelay,
  type Clock,
  type Logger,
  type PollLoop,
  type PollOutcome,
  startPollLoop,
} from '@orrery/service-kit';

/** A message that is committed and not published yet. */
export interface WaitingMessage {
  /** Messages with one key are published in their order. */
  readonly orderingKey: string;
  /** The same for every repetition, so that the bus and the consumers recognise it. */
  readonly messageId: string;
}

/** The messages that one relay publishes: no other relay works on them at the same time. */
export interface RelaySession<M extends WaitingMessage> {
  /** The oldest messages, those of each key in their order; `more`: others wait, too. */
  oldest(
    limit: number,
    exceptKeys: readonly string[],
  ): Promise<{ readonly messages: readonly M[]; readonly more: boolean }>;
  /** The bus has stored these: of each key the oldest ones. */
  remove(messages: readonly M[]): Promise<void>;
}

export interface RelayOptions<M extends WaitingMessage> {
  /** For logs. */
  readonly name: string;
  /** Runs the work on the messages that wait; answers undefined when there are none, or another relay works on them. */
  readonly within: <T>(work: (session: RelaySession<M>) => Promise<T>) => Promise<T | undefined>;
  /**
   * Publishes messages: those of one key in their order, and none after one that failed. Resolves to one outcome for
   * each message, in the order given: undefined when the bus has stored it, otherwise the error.
   */
  readonly publish: (messages: readonly M[]) => Promise<readonly unknown[]>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Messages of one batch. Default 500. */
  readonly batchSize?: number;
  /**
   * Pause after a batch that emptied the source, in milliseconds, also when it is woken. What is written meanwhile
   * goes out in one batch, which is several times cheaper. A message waits this much longer at most, and not at all
   * when the source was idle before. Default 0.
   */
  readonly restMs?: number;
}

/** How often it looks without being woken, in milliseconds. */
const INTERVAL_MS = 1000;
/** While the bus is away the relay retries at least this often, in milliseconds. */
const MAX_BACKOFF_MS = 5000;

/**
 * Publishes committed messages: at least once, each ordering key in its order, the keys in parallel. If a relay dies
 * between publishing and removing, its successor publishes them again under the same message id. `wake()` after a commit
 * makes it look at once, or after its rest.
 *
 * A key whose publication fails is retried alone with growing delays, if other keys succeed or if its message itself
 * is refused. If everything else fails, the bus counts as away and the whole relay backs off.
 */
export function startRelay<M extends WaitingMessage>(options: RelayOptions<M>): PollLoop {
  const { name, within, clock, logger, restMs = 0 } = options;
  const failing = new FailingKeys(clock);
  return startPollLoop({
    name,
    intervalMs: INTERVAL_MS,
    restMs,
    maxBackoffMs: MAX_BACKOFF_MS,
    clock,
    logger,
    runOnce: async () => (await within((session) => relayBatch(options, failing, session))) ?? 'idle',
  });
}

async function relayBatch<M extends WaitingMessage>(
  { publish, logger, batchSize = 500 }: RelayOptions<M>,
  failing: FailingKeys,
  session: RelaySession<M>,
): Promise<PollOutcome> {
  const { messages: waiting, more } = await session.oldest(batchSize, failing.waiting());
  if (waiting.length === 0) return 'idle';
  // All of a key together, which lets the bus pack them.
  const queues = [...Map.groupBy(waiting, ({ orderingKey }) => orderingKey)];
  const messages = queues.flatMap(([, queue]) => queue);
  const errors = await publish(messages);
  let first = 0;
  const outcomes = queues.map(([key, queue]) => {
    const ofQueue = errors.slice(first, first + queue.length);
    first += queue.length;
    return { key, ...outcomeOf(queue, ofQueue) };
  });
  const published = outcomes.flatMap((one) => one.published);
  if (published.length > 0) await session.remove(published);
  const isOwn = ({ error }: Outcome<M>) => error === undefined || isOwnFailure(error);
  const refused = published.length > 0 ? undefined : outcomes.find((one) => !isOwn(one));
  for (const { key, error } of refused ? outcomes.filter(isOwn) : outcomes) {
    failing.note(key, error !== undefined);
    if (error !== undefined) logger.warn({ err: error, orderingKey: key }, 'message could not be published');
  }
  if (refused) throw new Error('nothing could be published', { cause: refused.error });
  return more ? 'more' : 'idle';
}

/** The messages of a key that the bus has stored, and the error of the one after them. */
interface Outcome<M> {
  readonly published: readonly M[];
  readonly error?: unknown;
}

/** Codes with which the bus refuses a message because of its content. */
const REFUSALS: readonly string[] = ['body_too_large', 'validation_failed'];

/** Whether the message itself causes the failure, which then says nothing about the bus. */
const isOwnFailure = (error: unknown): boolean =>
  error instanceof ServiceError && REFUSALS.includes(error.code);

/** Messages after a failed one wait on, so that a retry keeps the order. */
function outcomeOf<M>(queue: readonly M[], errors: readonly unknown[]): Outcome<M> {
  const failed = errors.findIndex((error) => error !== undefined);
  return failed < 0 ? { published: queue } : { published: queue.slice(0, failed), error: errors[failed] };
}

const KEY_BACKOFF = { baseMs: 500, maxMs: 30_000 };

/**
 * Keys whose publication failed. They are left out for a while, so that they do not delay the others. Kept in memory: a
 * relay that has just started tries every key at once.
 */
class FailingKeys {
  readonly #keys = new Map<string, { failures: number; dueAt: number }>();

  constructor(private readonly clock: Clock) {}

  /** Keys whose delay has not passed yet. */
  waiting(): string[] {
    const now = this.clock.monotonic();
    return [...this.#keys].filter(([, { dueAt }]) => dueAt > now).map(([key]) => key);
  }

  note(key: string, hasFailed: boolean): void {
    const failures = (this.#keys.get(key)?.failures ?? 0) + 1;
    const dueAt = this.clock.monotonic() + backoffDelay(failures, KEY_BACKOFF);
    if (hasFailed) this.#keys.set(key, { failures, dueAt });
    else this.#keys.delete(key);
  }
}
