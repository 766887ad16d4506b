import type { AccountState } from '@orrery/contracts';
import { sql } from 'kysely';
import { withinGrant } from '../../core/pushes/batch.js';
import type { Db, Lane, Trx } from '../tables/schema.js';

/** A process of the release before stores a revision without saying whether it is disabled. `excluded`: what is told of it. */
const isNews = sql`
  known.revision < excluded.revision
    or (known.revision = excluded.revision and known.disabled <> excluded.disabled)`;

/**
 * Stores of different accounts their quotas of pushes, and whether they are disabled, each unless a newer revision is stored
 * already. Rows that stay as they are are not locked: `on conflict` alone would write to each. What waits for a quota is tried
 * again where some is left.
 */
export async function storeAccounts(db: Db, states: readonly AccountState[]): Promise<void> {
  const told = states.map(({ accountId, quotas, disabled, revision }) => ({
    ...{ account_id: accountId, pushes_per_day: quotas.pushesPerDay, revision, disabled },
  }));
  await sql`
    insert into accounts as known (account_id, pushes_per_day, revision, disabled)
    select account_id, excluded.pushes_per_day, excluded.revision, excluded.disabled
    from jsonb_to_recordset(cast(${JSON.stringify(told)} as jsonb)) as excluded
      (account_id bigint, pushes_per_day integer, revision bigint, disabled boolean)
    left join accounts known using (account_id)
    where known.account_id is null or ${isNews}
    order by account_id
    on conflict (account_id) do update
      set pushes_per_day = excluded.pushes_per_day, revision = excluded.revision, disabled = excluded.disabled
      where ${isNews}`.execute(db);
  await tryAgain(
    db,
    states.map(({ accountId }) => accountId),
  );
}

/** The account has pushes left in this UTC day, or no quota. */
const HAS_LEFT = sql`accounts.pushes_per_day is null or accounts.pushes_per_day > coalesce((select pushes from push_usage
  where push_usage.account_id = accounts.account_id and day = (now() at time zone 'utc')::date), 0)`;

/**
 * Lanes that wait for a quota are tried again where the account has some left, behind the lanes that wait for their turn: strangers
 * may have many that wait. One that is locked is being tried: it is met at the next comparison.
 */
async function tryAgain(db: Db, accountIds: readonly number[]): Promise<void> {
  await sql`
    with waiting as materialized (
      select lanes.deployment, lanes.chain from accounts
        join deployments on deployments.account_id = accounts.account_id
        join lanes on lanes.deployment = deployments.address
      where accounts.account_id = any(${[...accountIds]}::bigint[]) and lanes.waits_for = 'quota_exceeded' and (${HAS_LEFT})
      for update of lanes skip locked
    )
    update lanes set wait_until = now(), waits_for = null
    from waiting where lanes.deployment = waiting.deployment and lanes.chain = waiting.chain`.execute(db);
}

/** Lanes of an account whose quota is used up that wait together, with one turn. */
const WAIT_TOGETHER = 1000;

/** Lets a lane wait for the next UTC day, and the account's others of the chain that are due after such a wait. */
export async function waitForQuota(
  trx: Trx,
  { deployment, chain }: Lane,
  account: number | null,
): Promise<void> {
  await sql`
    with due as materialized (
      select lanes.deployment from lanes join deployments on deployments.address = lanes.deployment
      where lanes.chain = ${chain} and deployments.account_id = ${account} and lanes.waits_for = 'quota_exceeded'
        and lanes.wait_until <= now() and lanes.deployment <> ${deployment}
      limit ${WAIT_TOGETHER} for update of lanes skip locked
    )
    update lanes set waits_for = 'quota_exceeded',
      wait_until = (date_trunc('day', now() at time zone 'utc') + interval '1 day') at time zone 'utc'
    where chain = ${chain} and (deployment = ${deployment} or deployment in (select deployment from due))`.execute(
    trx,
  );
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
