import pg from 'pg';

/** The connection was lost while reading, or inside a transaction that had not been asked to commit: nothing was applied. */
export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
}

/**
 * The connection was lost while a COMMIT, or a statement outside a transaction, was under way. It may have
 * been applied, now or in a moment: read before you write again.
 */
export class OutcomeUnknown extends Error {
  override readonly name = 'OutcomeUnknown';
}

/** A statement had failed, the failure was swallowed, and PostgreSQL turned the COMMIT into a ROLLBACK. */
export class CommitRefused extends Error {
  override readonly name = 'CommitRefused';
}

/** All connections were in use for longer than a statement may wait. Nothing was applied. */
export class PoolExhausted extends Error {
  override readonly name = 'PoolExhausted';
}

/** What a failed statement means, apart from PostgreSQL's codes. */
export type PostgresFailure =
  /** A row breaks a constraint; `constraint` is its name. Nothing was applied. */
  | { readonly kind: ConstraintKind; readonly constraint: string }
  /** Serialization failure or deadlock: nothing was applied, the same transaction may succeed now. */
  | { readonly kind: 'conflict' }
  /** The statement, or its wait for a lock, took too long and was cancelled. Nothing was applied. */
  | { readonly kind: 'timeout' }
  /** No connection, none left, or a server that takes no writes now. Nothing was applied. */
  | { readonly kind: 'unavailable' }
  /** The server's disk is full. Nothing was applied. */
  | { readonly kind: 'storage_full' }
  /** The connection was lost meanwhile: it may have been applied. */
  | { readonly kind: 'unknown_outcome' }
  /** A mistake of ours, or not an error of the database. */
  | { readonly kind: 'other' };

type ConstraintKind =
  | 'unique_violation'
  | 'foreign_key_violation'
  | 'check_violation'
  | 'not_null_violation'
  | 'exclusion_violation';

const CONSTRAINTS: Readonly<Record<string, ConstraintKind>> = {
  '23502': 'not_null_violation',
  '23503': 'foreign_key_violation',
  '23505': 'unique_violation',
  '23514': 'check_violation',
  '23P01': 'exclusion_violation',
};

/** SQLSTATE codes (PostgreSQL manual, appendix A) and the codes of Node's sockets. */
const KINDS: Readonly<
  Record<string, 'conflict' | 'timeout' | 'unavailable' | 'storage_full' | 'unknown_outcome'>
> = {
  '40001': 'conflict',
  '40P01': 'conflict',
  '55P03': 'timeout',
  '57014': 'timeout',
  '08001': 'unavailable',
  '08004': 'unavailable',
  '25006': 'unavailable',
  '53100': 'storage_full',
  '53200': 'unavailable',
  '53300': 'unavailable',
  '57P03': 'unavailable',
  ECONNREFUSED: 'unavailable',
  ENOTFOUND: 'unavailable',
  EAI_AGAIN: 'unavailable',
  EHOSTUNREACH: 'unavailable',
  ENETUNREACH: 'unavailable',
  ETIMEDOUT: 'unknown_outcome',
  ECONNRESET: 'unknown_outcome',
  EPIPE: 'unknown_outcome',
  '08000': 'unknown_outcome',
  '08003': 'unknown_outcome',
  '08006': 'unknown_outcome',
  '08007': 'unknown_outcome',
  '25P03': 'unknown_outcome',
  '57P01': 'unknown_outcome',
  '57P02': 'unknown_outcome',
  '57P04': 'unknown_outcome',
  '57P05': 'unknown_outcome',
};

/** Errors that the driver or Kysely makes itself carry no code, only a text; some of the server's files have a general one. */
const TEXTS: readonly (readonly [RegExp, 'unavailable' | 'storage_full' | 'unknown_outcome'])[] = [
  [/No space left on device/, 'storage_full'],
  [
    /timeout exceeded when trying to connect|due to connection timeout|timeout expired|after calling end on the pool/,
    'unavailable',
  ],
  [
    /^Connection terminated|not queryable|^Query read timeout|^read ECONNRESET|^Postgres connection has been discarded/,
    'unknown_outcome',
  ],
];

interface DriverError {
  readonly code?: unknown;
  readonly constraint?: unknown;
  readonly severity?: unknown;
  readonly syscall?: unknown;
  readonly message?: unknown;
}

/** Errors with which a session ended before it had begun. */
const unbegun = new WeakSet<object>();

/** Nothing was asked of such a session: whatever its error's code, nothing was applied. */
export const noteUnbegun = (error: object): void => void unbegun.add(error);
export const isUnbegun = (error: object): boolean => unbegun.has(error);

/** A statement that was parsed before a table changed: each use of it in this session is refused (PostgreSQL's `plancache.c`). */
export const hasStalePlan = (error: unknown): boolean =>
  (error as DriverError | null)?.code === '0A000' &&
  /^cached plan must not change/.test(String((error as DriverError).message));

/** Errors of sockets look alike, whoever was called; these are those of our connections. */
const connectionErrors = new WeakSet<object>();

export const noteConnectionError = (error: object): void => void connectionErrors.add(error);

/** Says what an error thrown by a query (and by nothing else) means. Never throws. */
export function classifyPostgresError(error: unknown): PostgresFailure {
  if (error instanceof ConnectionLost || error instanceof PoolExhausted) return { kind: 'unavailable' };
  if (error instanceof OutcomeUnknown) return { kind: 'unknown_outcome' };
  if (typeof error !== 'object' || error === null) return { kind: 'other' };
  const { code, constraint, message, severity, syscall } = error as DriverError;
  const text = typeof message === 'string' ? message : '';
  const kind = KINDS[String(code)] ?? TEXTS.find(([pattern]) => pattern.test(text))?.[1] ?? 'other';
  if (syscall === 'connect' || isUnbegun(error))
    return { kind: kind === 'storage_full' ? kind : 'unavailable' };
  // Whatever broke the socket, and whatever a server said last that then recovers from its log: a commit may have passed.
  if (connectionErrors.has(error) || severity === 'PANIC') return { kind: 'unknown_outcome' };
  const broken = CONSTRAINTS[String(code)];
  if (broken !== undefined) return { kind: broken, constraint: String(constraint ?? '') };
  return { kind };
}

/** Whether a unique constraint (this one, if named) refused the row. */
export function isUniqueViolation(error: unknown, constraint?: string): boolean {
  const failure = classifyPostgresError(error);
  return failure.kind === 'unique_violation' && (constraint ?? failure.constraint) === failure.constraint;
}

/** A standby, or a database that its operator has made read-only. A session stays read-only until it ends. */
export const takesNoWrites = (error: unknown): boolean => (error as DriverError | null)?.code === '25006';

/** Errors that the driver or Kysely makes itself. */
const OWN_TEXTS =
  /^(timeout exceeded when trying to connect|Connection terminated|Query read timeout|Client has encountered a connection error|Postgres connection has been discarded|Cannot use a pool after calling end)/;

/** Whether PostgreSQL, its driver or one of our connections to it failed, and not something else that the code uses. */
export function isDatabaseError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const ours = [pg.DatabaseError, ConnectionLost, OutcomeUnknown, CommitRefused, PoolExhausted];
  const isNoted = connectionErrors.has(error) || isUnbegun(error);
  return isNoted || ours.some((one) => error instanceof one) || OWN_TEXTS.test(error.message);
}
