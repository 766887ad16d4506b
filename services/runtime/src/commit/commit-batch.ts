import { CompiledQuery } from 'kysely';
import type pg from 'pg';
import type { Db } from '../database/db.js';
import type { Batch } from '../state/batch.js';
import { batchRows } from './batch-rows.js';
import { COMMIT_STATEMENT, commitStatement } from './commit-statement.js';
import { writeRareEffects } from './rare-effects.js';

/** `lost`: a lease is no longer held under its epoch, and nothing was written. */
export type CommitOutcome = 'committed' | 'lost';

export type CommitBatch = (batch: Batch) => Promise<CommitOutcome>;

/**
 * Writes a batch durably, all of it or nothing. Rejects with the database's error; whether something was written then
 * is what `classifyPostgresError` says.
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
