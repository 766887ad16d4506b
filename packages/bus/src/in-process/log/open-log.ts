import { connect, migrate } from '@orrery/database';
import { type Clock, holding, type Logger, startPollLoop } from '@orrery/service-kit';
import { type Kysely, sql } from 'kysely';
import type { FactLog, ReadOptions } from '../../ports/transport.js';
import { createAppender } from './append.js';
import { startReading } from './read.js';
import { type BusSchema, migrations } from './tables.js';

export interface StoredLog extends AsyncDisposable {
  readonly append: FactLog['append'];
  /** @returns how to stop. */
  read(subject: string, options: ReadOptions): Promise<() => Promise<void>>;
}

export interface LogOptions {
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

const PRUNE_INTERVAL_MS = 5000;

/** The log of one process: stored messages in the schema `bus`. At most one process at a time may use it. */
export const openLog = ({ databaseUrl, clock, ...options }: LogOptions): Promise<StoredLog> =>
  holding(async (resources) => {
    const { logger } = options;
    const address = { url: databaseUrl, schema: 'bus', applicationName: 'orrery bus', maxConnections: 4 };
    const database = resources.use('messages', await connect<BusSchema>({ ...address, clock, logger }));
    await migrate({ database, migrations, logger });
    const { db, pool } = database;
    const { append, onStored } = createAppender(pool, clock);
    const pruning = startPollLoop({
      name: 'pruning of messages',
      intervalMs: PRUNE_INTERVAL_MS,
      runOnce: async () => ((await pruneMessages(db)) > 0 ? 'more' : 'idle'),
      clock,
      logger,
    });
    resources.add('pruning', pruning.stop);
    return {
      append,
      read: (subject, options) => startReading(subject, options, { db, clock, logger, onStored }),
    };
  }, options);

/** A message's id is known for this long at least. A later repetition is a message of its own. */
const DUPLICATE_WINDOW = '30 seconds';
/** As in the NATS stream: consumers fetch older entries from their owner. */
const LONGEST = '7 days';

/** Messages examined of each subject at once, oldest first: those that may be deleted come before those that must stay. */
const AT_ONCE = 10_000;

/**
 * Deletes messages that all consumers of their subject have handled (those of a subject without consumers at once, beyond
 * the duplicate window), and messages that are too old. Each step is bounded, so none takes long. Rows are deleted by their
 * position: with a join, the planner may compare each of them with the whole table while it has no statistics.
 * @returns how many were deleted; call again while it is not 0
 */
export async function pruneMessages(db: Kysely<BusSchema>): Promise<number> {
  const { numAffectedRows } = await sql`
    with recursive subjects as (
      (select subject from message order by subject limit 1)
      union all
      select (select m.subject from message m where m.subject > s.subject order by m.subject limit 1)
      from subjects s where s.subject is not null
    ), floors as materialized (
      select subject, (select min(floor) from consumer c where c.subject = s.subject) as floor
      from subjects s where subject is not null
    )
    delete from message where ctid = any(array(
      select o.ctid from floors f, lateral (
        select ctid, seq, stored_at from message m where m.subject = f.subject order by seq limit ${AT_ONCE}
      ) o
      where o.stored_at < now() - ${DUPLICATE_WINDOW}::interval
        and (o.stored_at < now() - ${LONGEST}::interval or f.floor is null or o.seq < f.floor)
    ))
  `.execute(db);
  return Number(numAffectedRows ?? 0);
}
