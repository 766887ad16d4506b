import { sql } from 'kysely';
import type { Db } from '../tables/schema.js';

/**
 * What-if forks that are not kept, and whose last entry is older than this by the time of the database. Only of the live
 * ones the last entry is looked up: in one join, the journal may be read whole, or the heads of all deployments.
 */
export async function unusedForks(
  db: Db,
  unusedMs: number,
  limit: number,
): Promise<{ readonly id: number; readonly address: string }[]> {
  const { rows } = await sql<{ id: number; address: string }>`
    with live as materialized (
      select d.id, d.address from what_if_forks w join deployments d on d.id = w.deployment_id
      where not w.is_kept and d.deleted_at is null
    )
    select id, address from live
    where (
      select executed_at from journal
      where deployment_id = live.id and seq = (select seq from journal_heads where deployment_id = live.id)
    ) < now() - ${unusedMs}::integer * interval '1 millisecond'
    order by id limit ${limit}`.execute(db);
  return rows;
}
