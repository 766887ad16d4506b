import { holderOf, LOCK_WAIT_MS, type Relations, whenFree, withLockWait } from '@orrery/database';
import type { Db, Trx } from '../../tables/schema.js';
import type { Waiting } from './move-news.js';

/**
 * Runs in one transaction what locks relations against all others, once nobody else holds them; tells who does.
 * `check` throws what ends the wait.
 */
export function lockedWhenFree<T>(
  db: Db,
  relations: Relations,
  work: (trx: Trx) => Promise<T>,
  { clock, onNews }: Waiting,
  check: () => Promise<void> = async () => undefined,
): Promise<T> {
  const onHeld = async () => {
    onNews?.({ kind: 'held', by: (await holderOf(db, relations)) ?? 'several, one after the other' });
    await check();
  };
  return whenFree(db, relations, () => withLockWait(db, LOCK_WAIT_MS, work), { clock, onHeld });
}
