import { type Clock, retry } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import type { HeldPartitions } from '../ownership/held-partitions.js';
import { raiseEpochs } from '../ownership/lease-store.js';
import type { Batch } from '../state/batch.js';

/** Whether the batch was written. Asks until the database answers; rejects only when the service stops. */
export type Recover = (batch: Batch) => Promise<boolean>;

/** Without an answer nothing may be decided: the lost commit may still take effect. */
const POLICY = { attempts: Number.POSITIVE_INFINITY, baseMs: 100, maxMs: 2000, retryable: () => true };

/**
 * After a commit whose answer was lost: raises the epochs of its partitions, which waits for the commit if it is still
 * on its way and shuts it out if it has not begun; then the journal says whether it was written. A batch is written in
 * whole or not at all.
 */
export function createRecovery(
  db: Db,
  instance: string,
  held: HeldPartitions,
  clock: Clock,
  signal: AbortSignal,
): Recover {
  return (batch) =>
    retry(
      async () => {
        const mine = [...batch.leases.values()];
        const raised = await raiseEpochs(db, instance, mine);
        // Another batch's recovery may have raised them before.
        held.dropLost(mine);
        held.hold(raised);
        return wasWritten(db, batch);
      },
      POLICY,
      { clock, signal },
    );
}

async function wasWritten(db: Db, { entries }: Batch): Promise<boolean> {
  const [first] = entries;
  // Steps of runs alone: to take one again does no harm.
  if (first === undefined) return false;
  const found = await db
    .selectFrom('journal')
    .select('seq')
    .where('id', '=', first.entry.id)
    .executeTakeFirst();
  return found !== undefined;
}
