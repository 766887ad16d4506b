import type { AccountState } from '@orrery/contracts';
import { sql } from 'kysely';
import type { Db } from '../database/schema.js';

/** Stores an account's quota of pushes unless a newer revision is stored already. What waits for it is looked at again. */
export async function storeQuota(db: Db, { accountId, quotas, revision }: AccountState): Promise<void> {
  await sql`
    insert into accounts as known (account_id, pushes_per_day, revision)
    values (${accountId}, ${quotas.pushesPerDay ?? null}, ${revision})
    on conflict (account_id) do update
      set pushes_per_day = excluded.pushes_per_day, revision = excluded.revision
      where known.revision < excluded.revision`.execute(db);
  await sql`
    update lanes set wait_until = null, waits_for = null
    from deployments
    where deployments.address = lanes.deployment and deployments.account_id = ${accountId}
      and lanes.waits_for = 'quota_exceeded'`.execute(db);
}
