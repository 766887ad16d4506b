import { classifyPostgresError } from '@orrery/database';
import { type Clock, retry } from '@orrery/service-kit';

/** What a command does, or waits for, between two steps. */
export type MoveNews =
  /** Others hold what it needs a lock of, such as `pg_dump, process 4711`. */
  | { readonly kind: 'held'; readonly by: string }
  /** The source's server still sends to the target's. */
  | { readonly kind: 'slot_in_use' }
  /** A statement had no time while nobody has the partition. */
  | { readonly kind: 'again'; readonly reason: string }
  | { readonly kind: 'keys_carried'; readonly keys: number }
  | { readonly kind: 'rows_deleted'; readonly rows: number };

/** How a command waits for others. */
export interface Waiting {
  readonly clock: Clock;
  /** As often as there is something: who shows it leaves some out. */
  readonly onNews?: (news: MoveNews) => void;
}

const NO_TIME: readonly string[] = ['timeout', 'conflict'];

/**
 * For what is done while nobody has a partition: where a statement had no time it is done again, and deployments do not wait
 * for the operator to run the command again. `check` throws what ends that.
 */
export function insist<T>(
  { clock, onNews }: Waiting,
  check: () => Promise<void>,
  work: () => Promise<T>,
): Promise<T> {
  const tryOnce = async (attempt: number) => {
    if (attempt > 1) await check();
    return work();
  };
  const policy = {
    ...{ attempts: Number.POSITIVE_INFINITY, baseMs: 100, maxMs: 1000 },
    retryable: (error: unknown) => NO_TIME.includes(classifyPostgresError(error).kind),
  };
  const onRetry = (error: unknown) => onNews?.({ kind: 'again', reason: (error as Error).message });
  return retry(tryOnce, policy, { clock, onRetry });
}
