import { sql } from 'kysely';
import type { Db } from '../tables/schema.js';

/** What-if forks that are not kept, and whose last entry is older than this by the time of the database. */
export async function unusedForks(
  db: Db,
  unusedMs: number,
  limit: number,
): Promise<{ readonly id: number; readonly address: string }[]> {
  const { rows } = await sql<{ id: number; address: string }>`
    select d.id, d.address from what_if_forks w
    join deployments d on d.id = w.deployment_id and d.deleted_at is null
    join journal_heads h on h.deployment_id = d.id
    join journal j on j.deployment_id = d.id and j.seq = h.seq
    where not w.is_kept and j.executed_at < now() - ${unusedMs}::integer * interval '1 millisecond'
    order by d.id limit ${limit}`.execute(db);
  return rows;
}
