import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import type pg from 'pg';
import { CommitRefused, ConnectionLost, OutcomeUnknown } from '../errors/outcome.js';
import { classifyPostgresError } from '../errors/postgres-errors.js';

/**
 * The pool as Kysely sees it, honest about commits: a COMMIT that PostgreSQL answers with ROLLBACK is an
 * error, a lost connection is told apart by whether something may have been applied, and a connection that
 * failed is never lent out again.
 */
export function guardedPool(pool: pg.Pool): PostgresPool {
  return { connect: async () => guardedClient(await pool.connect()), end: () => pool.end() };
}

function guardedClient(client: pg.PoolClient): PostgresPoolClient {
  let lost = false;
  let inTransaction = false;

  const query = async (text: string, values: readonly unknown[]): Promise<PostgresQueryResult<unknown>> => {
    // The server has rolled back by itself, and the first error is the one to be told.
    if (text === 'rollback' && lost) return { command: 'ROLLBACK' as const, rowCount: 0, rows: [] } as never;
    if (/^(begin|start transaction)/.test(text)) inTransaction = true;
    try {
      const result = await client.query(text, [...values]);
      if (text === 'commit' && result.command === 'ROLLBACK')
        throw new CommitRefused('a statement of this transaction had failed');
      if (text === 'commit' || text === 'rollback') inTransaction = false;
      return result as never;
    } catch (error) {
      if (classifyPostgresError(error).kind !== 'unknown_outcome') throw error;
      lost = true;
      const harmless = inTransaction && text !== 'commit';
      throw harmless
        ? new ConnectionLost('the connection was lost; the transaction is void', { cause: error })
        : new OutcomeUnknown('the connection was lost before the outcome was known', { cause: error });
    }
  };
  // Kysely calls the cursor form of `query` only when it was given a cursor class, which it is not.
  return { query: query as PostgresPoolClient['query'], release: () => client.release(lost) };
}
