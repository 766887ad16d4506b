import { type Clock, type Logger, type PollLoop, type PollOutcome, startPollLoop } from '@orrery/service-kit';
import { createFailingKeys, type FailingKeys } from './failing-keys.js';
import { isOwnFailure, type LaneOutcome, type Publisher, publishBatch } from './publish-batch.js';
import { type OutboxPlace, withRelaySession } from './relay-session.js';

export interface RelayOptions extends Publisher {
  readonly database: OutboxPlace;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly signal?: AbortSignal;
  /** Rows taken at once. Default 500. */
  readonly batchSize?: number;
  /** How often to look without being woken, in milliseconds. Default 1,000. */
  readonly intervalMs?: number;
  /**
   * After it has published what there was it rests this long, in milliseconds, also when it is woken: what is
   * written meanwhile goes together, which is several times cheaper. So a message waits this much longer at most,
   * and not at all after a calm time. Default 0.
   */
  readonly restMs?: number;
}

/** With the bus away the relay asks again at least this often, in milliseconds. */
const MAX_BACKOFF_MS = 5000;

/**
 * Publishes what the outbox holds: after the commit, at least once, each ordering key in the order of its
 * rows, the keys side by side. Rows are removed once the bus has them; a relay that dies in between leaves
 * them to be published again under the same message id.
 *
 * It uses one connection, and a second one while it works if `load` reads the database. Every replica runs one. A lock lets one of them work at a time, since two could not keep a key's order;
 * `wake()` after a commit makes it look at once, or after its rest. While others succeed, a key whose publication fails is
 * retried alone and ever more rarely, and always one that fails for what it is; when all others fail, the bus is taken to
 * be away.
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
  const { database, logger, batchSize = 500 } = options;
  const outcome = await withRelaySession(database, async (session) => {
    const rows = await session.oldest(batchSize, failing.waiting());
    const lanes = await publishBatch(options, rows);
    const published = lanes.flatMap((lane) => lane.published);
    await session.remove(published);
    const isOwn = ({ error }: LaneOutcome) => error === undefined || isOwnFailure(error);
    const refused = published.length > 0 ? undefined : lanes.find((lane) => !isOwn(lane));
    for (const lane of refused ? lanes.filter(isOwn) : lanes) noteOutcome(lane, failing, logger);
    if (refused) throw new Error('nothing could be published', { cause: refused.error });
    return rows.length === batchSize ? 'more' : 'idle';
  });
  return outcome ?? 'idle';
}

function noteOutcome({ key, error }: LaneOutcome, failing: FailingKeys, logger: Logger): void {
  if (error === undefined) {
    failing.succeeded(key);
    return;
  }
  failing.failed(key);
  logger.warn({ err: error, orderingKey: key }, 'a message could not be published');
}
