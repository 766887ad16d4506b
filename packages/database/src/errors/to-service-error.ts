import { asServiceError, ServiceError } from '@orrery/contracts';
import { classifyPostgresError, PoolExhausted } from './postgres-errors.js';

/** After how long a caller tries again when the disk is full. */
const RETRY_FULL_SECONDS = 5;

/**
 * Turns a database error into one that may leave the service: away → `unavailable` (503), its disk full →
 * `storage_full` (503), too slow → `deadline_exceeded` (504), still in conflict after its retries, or without a free connection → `overloaded` (503). The
 * facts say if the outcome is unknown. A violated constraint is `internal`; a service maps those that it expects before.
 */
export function toServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  const cause = { cause: error };
  if (error instanceof PoolExhausted)
    return new ServiceError(
      'overloaded',
      'Too many calls wait for the database; nothing was changed.',
      cause,
    );
  switch (classifyPostgresError(error).kind) {
    case 'unavailable':
      return new ServiceError('unavailable', 'The database is away; nothing was changed.', cause);
    case 'timeout':
      return new ServiceError('deadline_exceeded', 'The database took too long; nothing was changed.', cause);
    case 'conflict':
      return new ServiceError(
        'overloaded',
        'Too many changes to the same rows at once; nothing was changed.',
        cause,
      );
    case 'storage_full':
      return new ServiceError(
        'storage_full',
        'The disk of the database is full; nothing was changed. The operator has to free space.',
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
