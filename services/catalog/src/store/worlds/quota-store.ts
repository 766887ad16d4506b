import { type AccountState, ServiceError } from '@orrery/contracts';
import { sql } from 'kysely';
import type { Db, Trx } from '../tables/db.js';

/** @throws ServiceError `quota_exceeded` when the account may not have this many worlds. */
export async function refuseOverQuota(trx: Trx, accountId: number, worlds: number): Promise<void> {
  const quota = await trx
    .selectFrom('account_quotas')
    .select('worlds')
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  const allowed = quota?.worlds ?? null;
  if (allowed !== null && worlds > allowed)
    throw new ServiceError('quota_exceeded', `The account may have at most ${allowed} worlds.`);
}

export async function isKnown(db: Db, accountId: number): Promise<boolean> {
  const known = await db
    .selectFrom('account_quotas')
    .select('account_id')
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return known !== undefined;
}

/**
 * Stores quotas of different accounts, each unless a newer one is stored. Rows that stay as they are are not locked:
 * `on conflict` alone would write to each. The others are locked in the order of their ids.
 */
export async function rememberQuotas(db: Db, states: readonly AccountState[]): Promise<void> {
  const told = states.map(({ accountId, quotas: { worlds }, revision }) => ({
    ...{ account_id: accountId, worlds, revision },
  }));
  await sql`
    insert into account_quotas as known (account_id, worlds, revision)
    select account_id, told.worlds, told.revision
    from jsonb_to_recordset(cast(${JSON.stringify(told)} as jsonb)) as told
      (account_id bigint, worlds integer, revision bigint)
    left join account_quotas known using (account_id)
    where known.account_id is null or known.revision < told.revision
    order by account_id
    on conflict (account_id) do update set worlds = excluded.worlds, revision = excluded.revision
      where known.revision < excluded.revision`.execute(db);
}
