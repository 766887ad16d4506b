import { asServiceError, ServiceError } from '@orrery/contracts';
import { classifyPostgresError, isDatabaseError, PoolExhausted, takesNoWrites } from './postgres-errors.js';

/** After how long a caller tries again when the disk is full. */
const RETRY_FULL_SECONDS = 5;

/**
 * What a handler threw, as an error that may leave the service. Only errors of the database get its meanings, as in
 * `toServiceError`: a refused connection may be one to another server. A handler may have committed something before it
 * failed, so nothing is said about that.
 */
export function toCallError(error: unknown): ServiceError {
  return isDatabaseError(error) ? serviceErrorOf(error, '') : asServiceError(error);
}

/**
 * Turns an error of a statement or a transaction into one that may leave the service: away or read-only → `unavailable` (503), its disk full →
 * `storage_full` (503), too slow → `deadline_exceeded` (504), still in conflict after its retries, or without a free connection → `overloaded` (503). The
 * facts say if the outcome is unknown. A violated constraint is `internal`; a service maps those that it expects before.
 */
export function toServiceError(error: unknown): ServiceError {
  return serviceErrorOf(error, '; nothing was changed');
}

function serviceErrorOf(error: unknown, claim: string): ServiceError {
  if (error instanceof ServiceError) return error;
  const cause = { cause: error };
  if (error instanceof PoolExhausted)
    return new ServiceError('overloaded', `Too many calls wait for the database${claim}.`, cause);
  if (takesNoWrites(error))
    return new ServiceError('unavailable', `The database takes no writes now${claim}.`, cause);
  switch (classifyPostgresError(error).kind) {
    case 'unavailable':
      return new ServiceError('unavailable', `The database is away${claim}.`, cause);
    case 'timeout':
      return new ServiceError('deadline_exceeded', `The database took too long${claim}.`, cause);
    case 'conflict':
      return new ServiceError('overloaded', `Too many changes to the same rows at once${claim}.`, cause);
    case 'storage_full':
      return new ServiceError(
        'storage_full',
        `The disk of the database is full${claim}. The operator has to free space.`,
        { ...cause, facts: { retryAfterSeconds: RETRY_FULL_SECONDS } },
      );
    case 'unknown_outcome':
      return new ServiceError('unavailable', 'The database went away before it confirmed the change.', {
        ...cause,
        facts: { outcome: 'unknown' },
      });
    default:
      return asServiceError(error);
  }
}
