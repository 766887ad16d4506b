import { classifyPostgresError, connect, type Database, migrate, toServiceError } from '@orrery/database';
import { type Clock, createBatcher, holding, type Logger, retry, startPollLoop } from '@orrery/service-kit';
import { type Kysely, sql } from 'kysely';
import type { AppendOutcome, Fact, FactLog, ReadOptions } from '../../ports/transport.js';
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
    /** What waits for messages of each subject. */
    const wakes = new Map<string, Set<() => void>>();
    const pruning = startPollLoop({
      name: 'pruning of messages',
      intervalMs: PRUNE_INTERVAL_MS,
      runOnce: async () => ((await pruneMessages(db)) > 0 ? 'more' : 'idle'),
      clock,
      logger,
    });
    resources.add('pruning', pruning.stop);
    return {
      append: createAppend(pool, clock, (subject) => {
        for (const wake of wakes.get(subject) ?? []) wake();
      }),
      read: (subject, options) => {
        const onStored = (wake: () => void) => {
          const others = wakes.get(subject) ?? new Set();
          wakes.set(subject, others.add(wake));
          return () => void others.delete(wake);
        };
        return startReading(subject, options, { db, clock, logger, onStored });
      },
    };
  }, options);

type Pool = Database<unknown>['pool'];

/** Facts that are stored together. */
interface Appended {
  readonly subject: string;
  readonly facts: readonly Fact[];
}

const TRIES = { attempts: 4, baseMs: 100, maxMs: 1000 };
/** Facts that were appended together, of which one statement stores so many at most. */
const AT_ONCE = 32;

/**
 * Stores facts, one statement at a time. Facts that arrive meanwhile are stored by the next statement. With a single
 * writer the sequence numbers become visible in their order, so a reader who has seen one never misses a smaller one.
 */
function createAppend(pool: Pool, clock: Clock, onStored: (subject: string) => void): FactLog['append'] {
  const store = createBatcher<Appended, AppendOutcome>({
    maxBatch: AT_ONCE,
    load: async (batch) => {
      const stored = retry(() => storeFacts(pool, batch), TRIES, { clock });
      const outcome = await stored.then(() => undefined, toServiceError);
      if (outcome === undefined)
        for (const subject of new Set(batch.map((one) => one.subject))) onStored(subject);
      return batch.map(() => outcome);
    },
  });
  return async (subject, facts) => {
    const outcome = await store({ subject, facts });
    return facts.map(() => outcome);
  };
}

/** Headers and bodies are passed as lines: JSON has no line breaks. */
const STORE = {
  name: 'store-facts',
  text: `
insert into message (subject, id, ordering_key, headers, body)
select subject, id, ordering_key, headers::jsonb, body
from rows from (unnest($1::text[]), unnest($2::text[]), unnest($3::text[]),
  unnest(string_to_array($4, E'\\n')), unnest(string_to_array($5, E'\\n'))) with ordinality
  as fact (subject, id, ordering_key, headers, body, position)
order by position`,
};

/** Leaves facts that are stored already as they are. */
const STORE_NEW = {
  name: 'store-new-facts',
  text: `${STORE.text}
on conflict (subject, id) do nothing`,
};

/**
 * Stores facts in their order, all of them or none, except those that are stored already. These are rare: a conflict
 * clause costs each row a fifth more than a second try costs on a conflict.
 */
async function storeFacts(pool: Pool, batch: readonly Appended[]): Promise<void> {
  const values = columnsOf(batch);
  try {
    await pool.query({ ...STORE, values });
  } catch (error) {
    if (classifyPostgresError(error).kind !== 'unique_violation') throw error;
    await pool.query({ ...STORE_NEW, values });
  }
}

function columnsOf(batch: readonly Appended[]) {
  const subjects: string[] = [];
  const ids: string[] = [];
  const keys: (string | null)[] = [];
  const headerLines: string[] = [];
  const bodies: string[] = [];
  for (const { subject, facts } of batch) {
    for (const { id, key, headers, body } of facts) {
      subjects.push(subject);
      ids.push(id);
      keys.push(key ?? null);
      headerLines.push(JSON.stringify(headers));
      bodies.push(body);
    }
  }
  return [subjects, ids, keys, headerLines.join('\n'), bodies.join('\n')];
}

/** A message's id is known for this long at least. A later repetition is a message of its own. */
const DUPLICATE_WINDOW = '30 seconds';
/** As in the NATS stream: consumers fetch older entries from their owner. */
const LONGEST = '7 days';

/** Messages examined of each subject at once, oldest first: those that may be deleted come before those that must stay. */
const EXAMINED = 10_000;

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
        select ctid, seq, stored_at from message m where m.subject = f.subject order by seq limit ${EXAMINED}
      ) o
      where o.stored_at < now() - ${DUPLICATE_WINDOW}::interval
        and (o.stored_at < now() - ${LONGEST}::interval or f.floor is null or o.seq < f.floor)
    ))
  `.execute(db);
  return Number(numAffectedRows ?? 0);
}
