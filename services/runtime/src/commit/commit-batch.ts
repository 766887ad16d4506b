import { type Clock, retry } from '@orrery/service-kit';
import { CompiledQuery } from 'kysely';
import type pg from 'pg';
import type { Db } from '../database/db.js';
import { raiseEpochs } from '../ownership/lease-store.js';
import type { HeldPartitions } from '../ownership/partitions.js';
import type { Batch } from '../state/batch.js';
import { batchRows } from './batch-rows.js';
import { COMMIT_STATEMENT, commitStatement } from './commit-statement.js';
import { writeRareEffects } from './rare-effects.js';

/** `lost`: a lease is no longer held under its epoch, and nothing was written. */
export type CommitOutcome = 'committed' | 'lost';

export type CommitBatch = (batch: Batch) => Promise<CommitOutcome>;

/**
 * Writes a batch durably, all of it or nothing. Rejects with the database's error; `classifyPostgresError` says whether
 * the batch may have been written then.
 */
export function createCommit({ pool, db }: { pool: pg.Pool; db: Db }, instance: string): CommitBatch {
  return async (batch) => {
    const values = batchRows(batch, instance);
    if (batch.rare.length > 0) return commitTogether(db, batch, values);
    const { rows } = await pool.query<{ ok: boolean }>(commitStatement(values));
    return rows[0]?.ok ? 'committed' : 'lost';
  };
}

/** With rare effects the same statement is the first of a transaction. */
async function commitTogether(db: Db, batch: Batch, values: string[]): Promise<CommitOutcome> {
  return db.transaction().execute(async (trx) => {
    const { rows } = await trx.executeQuery<{ ok: boolean }>(
      CompiledQuery.raw(COMMIT_STATEMENT.text, values),
    );
    if (!rows[0]?.ok) return 'lost';
    await writeRareEffects(trx, batch.rare);
    return 'committed';
  });
}

/** Whether the batch was written. Retries until the database answers; rejects only when the service stops. */
export type Recover = (batch: Batch) => Promise<boolean>;

/** Until the database answers, nothing may be decided: the commit may still take effect. */
const POLICY = { attempts: Number.POSITIVE_INFINITY, baseMs: 100, maxMs: 2000, retryable: () => true };

/**
 * Recovers from a commit whose answer was lost. It raises the epochs of the batch's partitions, which waits for the
 * commit if it is in progress and makes it write nothing if it has not begun. Then it looks for the batch's first entry
 * in the journal: a batch is written as a whole or not at all.
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
  // Only steps of runs: it does no harm to take one again.
  if (first === undefined) return false;
  const found = await db
    .selectFrom('journal')
    .select('seq')
    .where('id', '=', first.entry.id)
    .executeTakeFirst();
  return found !== undefined;
}
