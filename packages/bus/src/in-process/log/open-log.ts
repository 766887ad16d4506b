import { connect, migrate } from '@orrery/database';
import { type Clock, holding, type Logger, startPollLoop } from '@orrery/service-kit';
import type { FactLog, ReadOptions } from '../../transport.js';
import { createAppender } from './append.js';
import { oneReaderEach } from './one-reader.js';
import { pruneMessages } from './prune.js';
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
export const openLog = ({ databaseUrl, clock, logger }: LogOptions): Promise<StoredLog> =>
  holding(async (resources) => {
    const address = { url: databaseUrl, schema: 'bus', applicationName: 'orrery bus', maxConnections: 4 };
    const database = resources.use('messages', await connect<BusSchema>({ ...address, clock, logger }));
    await migrate({ database, migrations, logger });
    const { db, pool } = database;
    const { append, onStored } = createAppender({ pool, clock });
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
      read: oneReaderEach((subject, options) =>
        startReading(subject, options, { db, clock, logger, onStored }),
      ),
    };
  }, logger);
