import type { AccountState } from '@orrery/contracts';
import { sql } from 'kysely';
import { withinGrant } from '../../core/pushes/batch.js';
import type { Db, Trx } from '../tables/schema.js';

/**
 * Stores an account's quota of pushes, and whether it is disabled, unless a newer revision is stored already. What waits for
 * the quota is tried again. A process of the release before stores a revision without saying whether it is disabled.
 */
export async function storeAccount(
  db: Db,
  { accountId, disabled, quotas, revision }: AccountState,
): Promise<void> {
  await sql`
    insert into accounts as known (account_id, pushes_per_day, revision, disabled)
    values (${accountId}, ${quotas.pushesPerDay ?? null}, ${revision}, ${disabled})
    on conflict (account_id) do update
      set pushes_per_day = excluded.pushes_per_day, revision = excluded.revision, disabled = excluded.disabled
      where known.revision < excluded.revision
        or (known.revision = excluded.revision and known.disabled <> excluded.disabled)`.execute(db);
  await sql`
    update lanes set wait_until = null, waits_for = null
    from deployments
    where deployments.address = lanes.deployment and deployments.account_id = ${accountId}
      and lanes.waits_for = 'quota_exceeded'`.execute(db);
}

/**
 * The first ones that the account may still push in this UTC day; they are counted. One that was sent before counts no
 * more. An account without a quota is not counted.
 */
export async function withinQuota<Row extends { isNew: boolean }>(
  trx: Trx,
  account: number | null,
  rows: readonly Row[],
): Promise<readonly Row[]> {
  const wanted = rows.filter(({ isNew }) => isNew).length;
  if (account === null || wanted === 0) return rows;
  const { rows: granted } = await sql<{ pushes: number }>`
    with quota as (select pushes_per_day as most from accounts where account_id = ${account} and pushes_per_day is not null),
      used as (
        insert into push_usage as known (account_id, day, pushes)
        select ${account}, (now() at time zone 'utc')::date, 0 from quota
        on conflict (account_id, day) do update set pushes = known.pushes
        returning pushes as before
      )
    select greatest(0, least(${wanted}, most - before))::int as pushes from used, quota`.execute(trx);
  const [grant] = granted;
  if (grant === undefined) return rows;
  await sql`
    update push_usage set pushes = pushes + ${grant.pushes}
    where account_id = ${account} and day = (now() at time zone 'utc')::date`.execute(trx);
  return withinGrant(rows, grant.pushes);
}
