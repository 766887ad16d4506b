import pg from 'pg';
import {
  CommitRefused,
  ConnectionLost,
  isUnbegun,
  OutcomeUnknown,
  PoolExhausted,
} from './postgres-errors.js';

/** Errors of sockets look alike, whoever was called; these are those of our connections. */
const connectionErrors = new WeakSet<object>();

export const noteConnectionError = (error: object): void => void connectionErrors.add(error);

/** Errors that the driver or Kysely makes itself. */
const TEXTS =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error|Postgres connection has been discarded|Cannot use a pool after calling end)/;

/** Whether PostgreSQL, its driver or one of our connections to it failed, and not something else that the code uses. */
export function isDatabaseError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const ours = [pg.DatabaseError, ConnectionLost, OutcomeUnknown, CommitRefused, PoolExhausted];
  const isNoted = connectionErrors.has(error) || isUnbegun(error);
  return isNoted || ours.some((one) => error instanceof one) || TEXTS.test(error.message);
}
