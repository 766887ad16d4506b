import { sql } from 'kysely';
import type { CatalogDatabase, CatalogTransaction } from '../context.js';

/** Whose counter counts the public worlds of all accounts. */
const EVERYONE = 0;

export interface WorldTotals {
  own: number;
  /** Own worlds and others' published ones. */
  visible: number;
}

/** Changes an account's number of worlds and returns the new one; the account's creations wait for each other here. */
export async function countWorlds(trx: CatalogTransaction, accountId: number, by: 1 | -1): Promise<number> {
  const { rows } = await sql<{ worlds: number }>`
    insert into world_counters as counted (account_id, worlds) values (${accountId}, ${Math.max(by, 0)})
    on conflict (account_id) do update set worlds = counted.worlds + ${by}
    returning worlds`.execute(trx);
  return rows[0]?.worlds ?? 0;
}

export async function countPublicWorlds(
  trx: CatalogTransaction,
  accountId: number,
  by: 1 | -1,
): Promise<void> {
  // Everyone's first: all who take both rows take them in this order.
  for (const counted of [EVERYONE, accountId]) {
    await sql`
      insert into world_counters as counted (account_id, public_worlds) values (${counted}, ${Math.max(by, 0)})
      on conflict (account_id) do update set public_worlds = counted.public_worlds + ${by}`.execute(trx);
  }
}

export async function worldTotals(db: CatalogDatabase, accountId: number): Promise<WorldTotals> {
  const rows = await db
    .selectFrom('world_counters')
    .selectAll()
    .where('account_id', 'in', [EVERYONE, accountId])
    .execute();
  const own = rows.find(({ account_id }) => account_id === accountId);
  const everyone = rows.find(({ account_id }) => account_id === EVERYONE);
  const others = (everyone?.public_worlds ?? 0) - (own?.public_worlds ?? 0);
  return { own: own?.worlds ?? 0, visible: (own?.worlds ?? 0) + others };
}
