import { ServiceError } from '@orrery/contracts';
import { sql } from 'kysely';
import type { Db, Trx } from '../tables/db.js';

/** The row that counts the public worlds of all accounts. */
const EVERYONE = 0;

export interface WorldTotals {
  own: number;
  /** The account's own worlds and published worlds of others. */
  visible: number;
}

/** Changes an account's number of worlds and returns it. Concurrent creations of one account wait for each other here. */
export async function countWorlds(trx: Trx, accountId: number, by: 1 | -1): Promise<number> {
  const { rows } = await sql<{ worlds: number }>`
    insert into world_counters as counted (account_id, worlds) values (${accountId}, ${Math.max(by, 0)})
    on conflict (account_id) do update set worlds = counted.worlds + ${by}
    returning worlds`.execute(trx);
  return rows[0]?.worlds ?? 0;
}

export async function countPublicWorlds(trx: Trx, accountId: number, by: 1 | -1): Promise<void> {
  // Every transaction that locks both rows locks the row of all accounts first.
  for (const counted of [EVERYONE, accountId]) {
    await sql`
      insert into world_counters as counted (account_id, public_worlds) values (${counted}, ${Math.max(by, 0)})
      on conflict (account_id) do update set public_worlds = counted.public_worlds + ${by}`.execute(trx);
  }
}

export async function worldTotals(db: Db, accountId: number): Promise<WorldTotals> {
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

/**
 * Counts the bytes of all schemas of a world that is held `editing`. A version that may change all schemas contains them
 * all, on the bus and in its frozen copy.
 *
 * @throws ServiceError `limit_reached` when they grow beyond `limit` bytes.
 */
export async function countSchemaBytes(
  trx: Trx,
  worldId: number,
  change: number,
  limit: number,
): Promise<void> {
  if (change === 0) return;
  const { schema_bytes } = await trx
    .updateTable('worlds')
    .set((world) => ({ schema_bytes: world('schema_bytes', '+', change) }))
    .where('id', '=', worldId)
    .returning('schema_bytes')
    .executeTakeFirstOrThrow();
  if (change > 0 && schema_bytes > limit)
    throw new ServiceError(
      'limit_reached',
      `The schemas of a world may take at most ${limit} bytes together.`,
    );
}
