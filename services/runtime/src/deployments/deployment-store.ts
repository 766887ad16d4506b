import type { PageQuery } from '@orrery/contracts';
import { page } from '@orrery/database';
import { sql } from 'kysely';
import type { Db } from '../database/db.js';
import type { DeploymentRow } from '../state/deployment-state.js';

/** A world's deployments that an account can see: its own and the public ones, in order of creation. */
export async function listDeployments(
  db: Db,
  worldId: number,
  accountId: number | undefined,
  query: PageQuery,
): Promise<{ rows: DeploymentRow[]; total: number }> {
  const visible = db
    .selectFrom('deployments')
    .where('world_id', '=', worldId)
    .where('deleted_at', 'is', null)
    .where(({ or, eb }) => or([eb('is_public', '=', true), eb('owner_account_id', '=', accountId ?? -1)]));
  const rows = await page(visible.selectAll().orderBy('id'), query).execute();
  const counted = await visible.select(sql<number>`count(*)::int`.as('total')).executeTakeFirst();
  return { rows, total: counted?.total ?? 0 };
}
