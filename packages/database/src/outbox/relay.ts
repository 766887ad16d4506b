import {
  backoffDelay,
  type Clock,
  type Logger,
  type PollLoop,
  type PollOutcome,
  startPollLoop,
} from '@orrery/service-kit';
import { isOwnFailure, type KeyOutcome, type Publisher, publishBatch } from './publish-batch.js';
import {
  type OutboxDatabase,
  type OwnShards,
  ownShards,
  type RelaySession,
  withRelaySession,
} from './relay-session.js';

export interface RelayOptions extends Publisher {
  readonly database: OutboxDatabase;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal?: AbortSignal;
  /** The shards that this process owns now, if rows have shards. Their rows are published by this relay alone. */
  readonly shards?: () => OwnShards;
  /** Rows of one batch. Default 500. */
  readonly batchSize?: number;
  /** How often it looks without being woken, in milliseconds. Default 1,000. */
  readonly intervalMs?: number;
  /**
   * Pause after a batch that emptied the outbox, in milliseconds, also when it is woken. What is written meanwhile
   * goes out in one batch, which is several times cheaper. A message waits this much longer at most, and not at all
   * when the outbox was idle before. Default 0.
   */
  readonly restMs?: number;
}

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
  const { database, clock, logger, signal, intervalMs = 1000, restMs = 0 } = options;
  const failing = createFailingKeys(clock);
  return startPollLoop({
    name: `outbox relay of ${database.schema}`,
    intervalMs,
    restMs,
    maxBackoffMs: MAX_BACKOFF_MS,
    clock,
    logger,
    runOnce: () => relayBatch(options, failing),
    ...(signal && { signal }),
  });
}

async function relayBatch(options: RelayOptions, failing: FailingKeys): Promise<PollOutcome> {
  const { database, shards } = options;
  const own = shards?.() ?? [];
  // One after the other, and the second also when nothing of the first could be published.
  const ofOwn =
    own.length === 0 ? [] : [await settled(relayRows(options, failing, ownShards(database, own)))];
  const ofOthers = withRelaySession(database, (session) => relayRows(options, failing, session));
  const results = [...ofOwn, await settled(ofOthers)];
  const failure = results.find((result) => result.status === 'rejected');
  if (failure !== undefined) throw failure.reason;
  return results.some((result) => result.status === 'fulfilled' && result.value === 'more') ? 'more' : 'idle';
}

const settled = async <T>(promise: Promise<T>) => {
  const [result] = await Promise.allSettled([promise]);
  return result;
};

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
  for (const one of refused ? outcomes.filter(isOwn) : outcomes) noteOutcome(one, failing, logger);
  if (refused) throw new Error('nothing could be published', { cause: refused.error });
  return rows.length === batchSize ? 'more' : 'idle';
}

function noteOutcome({ key, error }: KeyOutcome, failing: FailingKeys, logger: Logger): void {
  if (error === undefined) {
    failing.succeeded(key);
    return;
  }
  failing.failed(key);
  logger.warn({ err: error, orderingKey: key }, 'message could not be published');
}

/** Keys whose publication failed. They are left out for a while, so that they do not delay the others. */
interface FailingKeys {
  /** Keys whose delay has not passed yet. */
  waiting(): string[];
  failed(key: string): void;
  succeeded(key: string): void;
}

const KEY_BACKOFF = { baseMs: 500, maxMs: 30_000 };

/** Kept in memory: a relay that has just started tries every key at once. */
function createFailingKeys(clock: Clock): FailingKeys {
  const keys = new Map<string, { failures: number; dueAt: number }>();
  return {
    waiting: () => [...keys].filter(([, { dueAt }]) => dueAt > clock.monotonic()).map(([key]) => key),
    failed: (key) => {
      const failures = (keys.get(key)?.failures ?? 0) + 1;
      keys.set(key, { failures, dueAt: clock.monotonic() + backoffDelay(failures, KEY_BACKOFF) });
    },
    succeeded: (key) => {
      keys.delete(key);
    },
  };
}

export interface OutboxBacklog {
  /** Waiting rows, counted up to 10,000. */
  readonly rows: number;
  /** Age of the oldest, in milliseconds by the database's clock; 0 when the outbox is empty. */
  readonly oldestMs: number;
}

/** For metrics: how many rows wait for their publication, and for how long. */
export async function outboxBacklog({ pool }: OutboxDatabase): Promise<OutboxBacklog> {
  const { rows } = await pool.query<OutboxBacklog>(
    `select (select count(*) from (select from outbox limit 10000) as waiting) as rows,
       coalesce((select greatest(0, extract(epoch from now() - created_at) * 1000)::bigint
         from outbox order by id limit 1), 0) as "oldestMs"`,
  );
  return rows[0] ?? { rows: 0, oldestMs: 0 };
}
