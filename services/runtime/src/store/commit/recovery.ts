import { type Clock, retry } from '@orrery/service-kit';
import { type HeldPartitions, raiseEpochs } from '../leases/leases.js';
import type { Db } from '../tables/schema.js';
import type { Batch } from './batch.js';
import type { RunWrite } from './writes.js';

/** `unclear`: another process owns the run by now and has taken it further, from wherever it was. */
type Proof = 'written' | 'unwritten' | 'unclear';

/** Proves whether a batch was written. Retries until the database answers; rejects only when the service stops. */
export type Recover = (batch: Batch) => Promise<Proof>;

/** Until the database answers, nothing may be decided: the commit may still take effect. */
const POLICY = { attempts: Number.POSITIVE_INFINITY, baseMs: 100, maxMs: 2000, retryable: () => true };

/**
 * Recovers from a commit whose answer was lost. It raises the epochs of the batch's partitions, also of those that were
 * given back, which waits for the commit if it is in progress and makes it write nothing if it has not begun; so does a
 * partition's new owner, should there be one. Then it looks for one row of the batch, since a batch is written as a whole
 * or not at all.
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
        // First, so that these partitions are not lost in between. Another batch's recovery may have raised others before.
        held.hold(raised);
        held.dropLost(mine);
        return proofOf(db, batch);
      },
      POLICY,
      { clock, signal },
    );
}

function proofOf(db: Db, { entries, runs }: Batch): Promise<Proof> {
  const [entry] = entries;
  const [run] = runs;
  if (entry !== undefined) return proofByEntry(db, entry.entry.id);
  if (run !== undefined) return proofByRun(db, ...run);
  // It only continues an index, which may be done twice.
  return Promise.resolve('unwritten');
}

async function proofByEntry(db: Db, id: string): Promise<Proof> {
  const found = await db.selectFrom('journal').select('seq').where('id', '=', id).executeTakeFirst();
  return found === undefined ? 'unwritten' : 'written';
}

/** Steps only grow, and those of another owner have other numbers. */
async function proofByRun(db: Db, id: string, { from, step }: RunWrite): Promise<Proof> {
  const found = await db.selectFrom('runs').select('step').where('id', '=', id).executeTakeFirst();
  if (from === null) return found === undefined ? 'unwritten' : 'written';
  if (found?.step === step) return 'written';
  return found !== undefined && found.step < step ? 'unwritten' : 'unclear';
}
