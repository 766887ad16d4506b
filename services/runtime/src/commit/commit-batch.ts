import type pg from 'pg';
import { type Lease, partitionOf } from '../ownership/partitions.js';
import type { Batch } from '../state/batch.js';
import { batchRows } from './batch-rows.js';
import { commitStatement } from './commit-statement.js';

/** What the database has instead of what the batch expects; nothing was written. */
export interface Refusal {
  readonly kind: 'refused';
  /** Leases of the batch that are not held any more under their epochs. */
  readonly lost: readonly Lease[];
  /** Journals that end elsewhere although their leases are held; `seq` and `hash` are null for a journal that does not exist. */
  readonly heads: readonly {
    readonly deploymentId: number;
    readonly seq: number | null;
    readonly hash: string | null;
  }[];
  /** Runs that are at another step although their leases are held, by id. */
  readonly runs: readonly string[];
  /** Once-keys that are claimed already. */
  readonly keys: readonly { readonly scope: string; readonly key: string }[];
}

export type CommitOutcome = { readonly kind: 'committed' } | Refusal;

export type CommitBatch = (batch: Batch) => Promise<CommitOutcome>;

/** The row that the commit statement answers. */
interface Answer {
  readonly ok: boolean;
  readonly held: readonly number[] | null;
  readonly heads: Refusal['heads'] | null;
  readonly runs?: Refusal['runs'] | null;
  readonly keys?: Refusal['keys'] | null;
}

/**
 * Writes a batch durably, all of it or nothing. Rejects with the database's error; `classifyPostgresError` says whether
 * the batch may have been written then.
 */
export function createCommit({ pool }: { pool: Pick<pg.Pool, 'query'> }, instance: string): CommitBatch {
  return async (batch) => {
    const { rows } = await pool.query<Answer>(commitStatement(batchRows(batch, instance)));
    const [answer] = rows;
    if (answer === undefined) throw new Error('the commit statement answered no row');
    return answer.ok ? { kind: 'committed' } : refusalOf(batch, answer);
  };
}

/** Where a lease is lost, it is no wonder that heads and runs have moved on. */
function refusalOf(batch: Batch, { held, heads, runs, keys }: Answer): Refusal {
  const still = new Set(held);
  const isHeld = (deploymentId: number | undefined) =>
    deploymentId !== undefined && still.has(partitionOf(deploymentId));
  return {
    kind: 'refused',
    lost: [...batch.leases.values()].filter(({ partition }) => !still.has(partition)),
    heads: (heads ?? []).filter(({ deploymentId }) => isHeld(deploymentId)),
    runs: (runs ?? []).filter((id) => isHeld(batch.runs.get(id)?.deploymentId)),
    keys: keys ?? [],
  };
}
