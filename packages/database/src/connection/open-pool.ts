import type { Logger } from '@orrery/service-kit';
import pg from 'pg';
import { valueParsers } from './value-parsers.js';

export interface PoolOptions {
  readonly url: string;
  /** The service's schema: unqualified names mean its tables. */
  readonly schema: string;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName: string;
  /** Default 10. */
  readonly maxConnections?: number;
  /** A statement that takes longer is cancelled, in milliseconds. Default 15,000; 0 means never. */
  readonly statementTimeoutMs?: number;
  /** So is one that waits longer for a lock. Default 5,000; 0 means never. */
  readonly lockTimeoutMs?: number;
  /** A transaction that does nothing for longer is ended by the server. Default 15,000; 0 means never. */
  readonly idleInTransactionTimeoutMs?: number;
  readonly logger: Logger;
}

/** The driver gives up on a server that does not even cancel, this long after the statement's own timeout. */
const SILENCE_MS = 5000;

export function openPool(options: PoolOptions): pg.Pool {
  const { url, schema, applicationName, maxConnections = 10, statementTimeoutMs = 15_000, logger } = options;
  const pool = new pg.Pool({
    connectionString: url,
    application_name: applicationName,
    options: `-c search_path=${schema}`,
    max: maxConnections,
    statement_timeout: statementTimeoutMs,
    lock_timeout: options.lockTimeoutMs ?? 5000,
    idle_in_transaction_session_timeout: options.idleInTransactionTimeoutMs ?? 15_000,
    ...(statementTimeoutMs > 0 && { query_timeout: statementTimeoutMs + SILENCE_MS }),
    connectionTimeoutMillis: 5000,
    keepAlive: true,
    types: valueParsers,
  });
  const onLost = (error: Error) => {
    // A server that stops at the same time may be faster than the goodbye.
    if (!pool.ending) logger.warn({ err: error }, 'a database connection was lost');
  };
  // Without a listener a connection that dies while it is lent out ends the process.
  pool.on('connect', (client) => client.on('error', onLost));
  pool.on('error', () => undefined);
  return pool;
}
