import { type JsonText, type JsonValue, ServiceError } from '@orrery/contracts';
import {
  backoffDelay,
  type Clock,
  type Logger,
  type PollLoop,
  type PollOutcome,
  startPollLoop,
} from '@orrery/service-kit';
import {
  type OutboxDatabase,
  type OutboxRow,
  type OwnShards,
  ownShards,
  type RelaySession,
  withRelaySession,
} from './relay-session.js';

/** A row with its payload, ready for the bus. */
export interface OutboxMessage extends Omit<OutboxRow, 'payload'> {
  readonly payload: JsonValue | JsonText;
}

export interface RelayOptions {
  readonly database: OutboxDatabase;
  /**
   * Publishes messages: those of one key in their order, and none after one that failed. Resolves to one outcome for
   * each message, in the order given: undefined when the bus has stored it, otherwise the error.
   */
  readonly publish: (messages: readonly OutboxMessage[]) => Promise<readonly unknown[]>;
  /** Payloads, by row id, of the rows that only refer to an entry. Required if there are such rows. */
  readonly load?: (rows: readonly OutboxRow[]) => Promise<ReadonlyMap<number, JsonValue | JsonText>>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The shards that this process owns now, if rows have shards. Their rows are published by this relay alone. */
  readonly shards?: () => OwnShards;
  /** Rows of one batch. Default 500. */
  readonly batchSize?: number;
  /**
   * Pause after a batch that emptied the outbox, in milliseconds, also when it is woken. What is written meanwhile
   * goes out in one batch, which is several times cheaper. A message waits this much longer at most, and not at all
   * when the outbox was idle before. Default 0.
   */
  readonly restMs?: number;
}

/** How often it looks without being woken, in milliseconds. */
const INTERVAL_MS = 1000;
/** While the bus is away the relay retries at least this often, in milliseconds. */
const MAX_BACKOFF_MS = 5000;

/**
 * Publishes the rows of the outbox: after the commit, at least once, each ordering key in the order of its rows, the
 * keys in parallel. Rows are removed once the bus has stored them. If a relay dies in between, its successor publishes
 * them again under the same message id.
 *
 * It uses one connection, and a second one while it works if `load` reads the database. Every replica runs a relay. Each
 * publishes the rows of the shards that its process owns. For rows without a shard a lock lets one relay work at a time,
 * since two could not keep a key's order. `wake()` after a commit makes it look at once, or after its rest.
 *
 * A key whose publication fails is retried alone with growing delays, if other keys succeed or if its message itself
 * is refused. If everything else fails, the bus counts as away and the whole relay backs off.
 */
export function startRelay(options: RelayOptions): PollLoop {
  const { database, clock, logger, restMs = 0 } = options;
  const failing = new FailingKeys(clock);
  return startPollLoop({
    name: `outbox relay of ${database.schema}`,
    intervalMs: INTERVAL_MS,
    restMs,
    maxBackoffMs: MAX_BACKOFF_MS,
    clock,
    logger,
    runOnce: () => relayBatch(options, failing),
  });
}

async function relayBatch(options: RelayOptions, failing: FailingKeys): Promise<PollOutcome> {
  const { database, shards } = options;
  const own = shards?.() ?? [];
  const works = [
    ...(own.length === 0 ? [] : [() => relayRows(options, failing, ownShards(database, own))]),
    () => withRelaySession(database, (session) => relayRows(options, failing, session)),
  ];
  // One after the other, and the second also when nothing of the first could be published.
  const results: PromiseSettledResult<PollOutcome | undefined>[] = [];
  for (const work of works) results.push(...(await Promise.allSettled([work()])));
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return results.some((result) => result.status === 'fulfilled' && result.value === 'more') ? 'more' : 'idle';
}

async function relayRows(
  options: RelayOptions,
  failing: FailingKeys,
  session: RelaySession,
): Promise<PollOutcome> {
  const { logger, batchSize = 500 } = options;
  const rows = await session.oldest(batchSize, failing.waiting());
  const outcomes = await publishBatch(options, rows);
  const published = outcomes.flatMap((one) => one.published);
  await session.remove(published);
  const isOwn = ({ error }: KeyOutcome) => error === undefined || isOwnFailure(error);
  const refused = published.length > 0 ? undefined : outcomes.find((one) => !isOwn(one));
  for (const { key, error } of refused ? outcomes.filter(isOwn) : outcomes) {
    failing.note(key, error !== undefined);
    if (error !== undefined) logger.warn({ err: error, orderingKey: key }, 'message could not be published');
  }
  if (refused) throw new Error('nothing could be published', { cause: refused.error });
  return rows.length === batchSize ? 'more' : 'idle';
}

/** The rows of a key that the bus has stored, and the error of the row after them. */
interface KeyOutcome {
  readonly key: string;
  readonly published: readonly number[];
  readonly error?: unknown;
}

class MissingPayload extends Error {}

/** Codes with which the bus refuses a message because of its content. */
const REFUSALS: readonly string[] = ['body_too_large', 'validation_failed'];

/** Whether the message itself causes the failure, which then says nothing about the bus. */
const isOwnFailure = (error: unknown): boolean =>
  error instanceof MissingPayload || (error instanceof ServiceError && REFUSALS.includes(error.code));

/** Publishes rows; returns how far that went for each key. */
async function publishBatch(
  { load, publish }: RelayOptions,
  rows: readonly OutboxRow[],
): Promise<KeyOutcome[]> {
  const references = rows.filter(({ payload }) => payload === null);
  const payloads = references.length === 0 ? undefined : await load?.(references);
  const failures = new Map<number, unknown>();
  const messages: OutboxMessage[] = [];
  const queues = [...Map.groupBy(rows, ({ orderingKey }) => orderingKey)];
  for (const [, queue] of queues) {
    for (const row of queue) {
      const payload = row.payload ?? payloads?.get(row.id);
      if (payload === undefined) {
        failures.set(row.id, new MissingPayload(`no payload was loaded for ${row.name} ${row.messageId}`));
        break;
      }
      messages.push(withPayload(row, payload));
    }
  }
  const outcomes = messages.length === 0 ? [] : await publish(messages);
  for (const [index, { id }] of messages.entries()) {
    if (outcomes[index] !== undefined) failures.set(id, outcomes[index]);
  }
  return queues.map(([key, queue]) => keyOutcome(key, queue, failures));
}

/** Member by member: spreading the objects that the driver makes takes a slow path of the engine. */
const withPayload = (row: OutboxRow, payload: OutboxMessage['payload']): OutboxMessage => ({
  id: row.id,
  name: row.name,
  orderingKey: row.orderingKey,
  orderingSeq: row.orderingSeq,
  messageId: row.messageId,
  payload,
});

/** Rows after a failed one stay in the outbox, so that a retry keeps the order. */
function keyOutcome(
  key: string,
  queue: readonly OutboxRow[],
  failures: ReadonlyMap<number, unknown>,
): KeyOutcome {
  const ids = queue.map(({ id }) => id);
  const failed = ids.find((id) => failures.has(id));
  if (failed === undefined) return { key, published: ids };
  return { key, published: ids.slice(0, ids.indexOf(failed)), error: failures.get(failed) };
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
