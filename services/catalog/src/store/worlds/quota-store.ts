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

/** Stores an account's quota unless a newer one is stored. */
export async function rememberQuota(db: Db, { accountId, quotas, revision }: AccountState): Promise<void> {
  await sql`
    insert into account_quotas as known (account_id, worlds, revision)
    values (${accountId}, ${quotas.worlds ?? null}, ${revision})
    on conflict (account_id) do update set worlds = excluded.worlds, revision = excluded.revision
      where known.revision < excluded.revision`.execute(db);
}
