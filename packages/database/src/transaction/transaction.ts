import { type Clock, retry, systemClock } from '@orrery/service-kit';
import { type IsolationLevel, type Kysely, sql, type Transaction } from 'kysely';
import { ANY_TIME, UNBOUNDED } from '../connection/pool.js';
import { classifyPostgresError } from '../errors/postgres-errors.js';

export interface TransactionOptions {
  /** Default: `read committed`, PostgreSQL's own. */
  readonly isolation?: IsolationLevel;
  /** How often `fn` runs at most when PostgreSQL reports a serialization failure or a deadlock. Default 3. */
  readonly attempts?: number;
  /**
   * Its statements may take as long as they need; with `true` they may wait for locks as long, too. For an operator's commands.
   * Default false.
   */
  readonly unbounded?: boolean | 'statements';
  readonly signal?: AbortSignal;
  readonly clock?: Clock;
}

/**
 * Runs `fn` in one transaction and commits, or rolls back and rejects. `fn` may run several times, so it has no side
 * effects outside the transaction. It never waits for the network: claim, commit, call, then record the outcome in a
 * new transaction.
 *
 * @throws OutcomeUnknown when the connection was lost during COMMIT.
 * @throws ConnectionLost when it was lost before: nothing was applied.
 * @throws CommitRefused when `fn` swallowed the failure of a statement: nothing was applied.
 */
export function transaction<Schema, T>(
  db: Kysely<Schema>,
  fn: (trx: Transaction<Schema>) => Promise<T>,
  { isolation, attempts = 3, unbounded = false, signal, clock = systemClock }: TransactionOptions = {},
): Promise<T> {
  const begin = () =>
    isolation === undefined ? db.transaction() : db.transaction().setIsolationLevel(isolation);
  const retryable = (error: unknown) => classifyPostgresError(error).kind === 'conflict';
  const policy = { attempts, baseMs: 10, maxMs: 200, retryable };
  const run = async (trx: Transaction<Schema>) => {
    if (unbounded) await sql.raw(unbounded === true ? UNBOUNDED : ANY_TIME).execute(trx);
    return fn(trx);
  };
  return retry(() => begin().execute(run), policy, { clock, ...(signal && { signal }) });
}
