import { type Clock, StartupError, systemClock } from '@orrery/service-kit';
import { Kysely, PostgresDialect } from 'kysely';
import type pg from 'pg';
import { checkServer } from './check-server.js';
import { readHosts } from './database-hosts.js';
import { guardedPool, openPool, type PoolLimits, type PoolOptions } from './pool.js';
import { StorageWatch, takeSpace } from './storage-watch.js';

export interface ConnectOptions extends PoolOptions {
  readonly clock?: Clock;
  /** The variable that holds the address, for messages. Default `DATABASE_URL`. */
  readonly urlVariable?: string;
  /** Ends the wait for a server that does not answer yet. */
  readonly signal?: AbortSignal;
}

/** A pool of connections to a service's own part of the database. `Schema` describes its tables to Kysely. */
export interface Connections<Schema> extends AsyncDisposable {
  readonly db: Kysely<Schema>;
  /** For what Kysely cannot express. Its errors are those of the driver. */
  readonly pool: pg.Pool;
  /** Waits for running statements, then closes all connections. */
  close(): Promise<void>;
}

export interface Database<Schema> extends Connections<Schema> {
  readonly schema: string;
  readonly storage: Pick<StorageWatch, 'isFull' | 'suspect'>;
  /** Other connections to the same schema, under other limits. The caller closes them. */
  beside(limits: PoolLimits): Connections<Schema>;
  /** Resolves for a server that answers with whether it takes writes. For a health check. */
  ping(): Promise<{ readonly takesWrites: boolean }>;
}

/**
 * Connects to a service's schema (which `migrate` creates) and checks that the server can be used.
 * Statements, lock waits and idle transactions are limited (`PoolOptions`).
 *
 * @throws StartupError when the address cannot be meant, or the server cannot be reached within a few tries, refuses the
 *   user or is too old.
 */
export async function connect<Schema>(options: ConnectOptions): Promise<Database<Schema>> {
  if (!/^[a-z][a-z0-9_]{0,62}$/.test(options.schema))
    throw new TypeError(`not a schema name: ${options.schema}`);
  requireAddress(options);
  const storage = new StorageWatch(() => takeSpace(pool), options.logger);
  const watched = { ...options, onServerError: storage.note };
  const { db, pool, close: closePool } = openConnections<Schema>(watched);
  const close = () => {
    storage.stop();
    return closePool();
  };
  try {
    await checkServer({ ...options, pool, clock: options.clock ?? systemClock });
  } catch (error) {
    await close();
    throw error;
  }
  return {
    db,
    pool,
    schema: options.schema,
    storage,
    beside: (limits) => openConnections<Schema>({ ...watched, ...limits }),
    ping: () => ping(pool),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function requireAddress({ url, urlVariable = 'DATABASE_URL' }: ConnectOptions): void {
  try {
    readHosts(url);
  } catch (cause) {
    throw new StartupError(`${urlVariable} cannot be used: ${(cause as Error).message}.`, { cause });
  }
}

async function ping(pool: pg.Pool): Promise<{ takesWrites: boolean }> {
  const client = await pool.connect();
  let takesWrites = false;
  try {
    const { rows } = await client.query<{ takesWrites: boolean }>(
      `select current_setting('transaction_read_only') = 'off' as "takesWrites"`,
    );
    takesWrites = rows[0]?.takesWrites === true;
    return { takesWrites };
  } finally {
    // A session that is read-only stays so.
    client.release(!takesWrites);
  }
}

function openConnections<Schema>(options: PoolOptions): Connections<Schema> {
  const pool = openPool(options);
  const close = closeOnce(pool);
  const dialect = new PostgresDialect({ pool: guardedPool(pool, options) });
  return { db: new Kysely<Schema>({ dialect }), pool, close, [Symbol.asyncDispose]: close };
}

function closeOnce(pool: pg.Pool): () => Promise<void> {
  let closed: Promise<void> | undefined;
  return () => {
    closed ??= pool.end();
    return closed;
  };
}
