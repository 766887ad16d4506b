import { type AccountState, ServiceError } from '@orrery/contracts';
import { type RawBuilder, sql } from 'kysely';
import type { Db, Trx } from '../tables/schema.js';

/** An older release stores no dollars: the same revision adds them. `excluded` is what is told of the account. */
const isNews = sql`
  known.revision < excluded.revision
    or (known.revision = excluded.revision and known.ai_usd_per_day is distinct from excluded.ai_usd_per_day)`;

/**
 * Stores states of different accounts, each unless a newer revision is stored already. Rows that stay as they are are not
 * locked: `on conflict` alone would write to each. The others are locked in the order of their ids.
 */
export async function storeAccounts(db: Db, states: readonly AccountState[]): Promise<void> {
  const told = states.map(({ accountId, quotas, disabled, revision }) => ({
    ...{ account_id: accountId, deployments: quotas.deployments, ai_usd_per_day: quotas.aiUsdPerDay },
    ...{ disabled, revision },
  }));
  await sql`
    insert into accounts as known (account_id, deployments, ai_usd_per_day, disabled, revision)
    select account_id, excluded.deployments, excluded.ai_usd_per_day, excluded.disabled, excluded.revision
    from jsonb_to_recordset(cast(${JSON.stringify(told)} as jsonb)) as excluded
      (account_id bigint, deployments integer, ai_usd_per_day double precision, disabled boolean, revision bigint)
    left join accounts known using (account_id)
    where known.account_id is null or ${isNews}
    order by account_id
    on conflict (account_id) do update
      set deployments = excluded.deployments, ai_usd_per_day = excluded.ai_usd_per_day,
        disabled = excluded.disabled, revision = excluded.revision
      where ${isNews}`.execute(db);
}

/** Whether news of the account has come. */
export async function isKnown(db: Db, accountId: number): Promise<boolean> {
  const { rows } = await sql`select from accounts where account_id = ${accountId}`.execute(db);
  return rows.length > 0;
}

/**
 * In the transaction that creates a deployment: serializes the creations of an account with a quota by its row. The row
 * is written, not only locked, so a repeatable-read transaction fails after its wait instead of counting an old snapshot.
 */
export const lockQuota = (trx: Trx, accountId: number) =>
  sql`
    update accounts set deployments = deployments
    where account_id = ${accountId} and deployments is not null`.execute(trx);

/** How many deployments the account may have; null for any number. */
export async function quotaOfDeployments(db: Db, accountId: number): Promise<number | null> {
  const { rows } = await sql<{ deployments: number | null }>`
    select deployments from accounts where account_id = ${accountId}`.execute(db);
  return rows[0]?.deployments ?? null;
}

/** Reliable only after `lockQuota` in the same transaction. @throws `quota_exceeded` */
export async function refuseOverQuota(db: Db, accountId: number): Promise<void> {
  const allowed = await quotaOfDeployments(db, accountId);
  if (allowed === null) return;
  const counted = await sql<{ count: number }>`
    select count(*) as count from deployments
    where owner_account_id = ${accountId} and deleted_at is null`.execute(db);
  if ((counted.rows[0]?.count ?? 0) < allowed) return;
  throw new ServiceError('quota_exceeded', `The account may have at most ${allowed} deployments.`);
}

/** Deployments whose account was disabled or enabled, wherever they do not follow that yet. */
export const accountPauses = (db: Db): PauseCause => ({
  name: 'account',
  caller: 'gateway',
  pending: async function* (limit) {
    yield* inPages(db, limit, ofDisabled);
    yield* inPages(db, limit, ofEnabled);
  },
});

/** In the order of accounts, and of each account in the order of an index: no page passes over what the ones before it hold. */
const ofDisabled = (after: Place, limit: number) => sql<PendingPause & Place>`
  select a.account_id as account, d.id, d.address, true as paused from accounts a cross join lateral (
    select id, address from deployments
    where owner_account_id = a.account_id and not account_paused and deleted_at is null
      and id > case a.account_id when ${after.account} then ${after.id}::bigint else 0 end
    order by id limit ${limit}) d
  where a.disabled and a.account_id >= ${after.account} order by a.account_id, d.id limit ${limit}`;

const ofEnabled = ({ id }: Place, limit: number) => sql<PendingPause & Place>`
  select a.account_id as account, d.id, d.address, false as paused
  from deployments d join accounts a on a.account_id = d.owner_account_id
  where d.account_paused and not a.disabled and d.deleted_at is null and d.id > ${id} order by d.id limit ${limit}`;

/** A deployment in the order of a list. */
interface Place {
  readonly account: number;
  readonly id: number;
}

async function* inPages(
  db: Db,
  limit: number,
  read: (after: Place, limit: number) => RawBuilder<PendingPause & Place>,
): AsyncGenerator<readonly PendingPause[]> {
  for (let after: Place | undefined = { account: 0, id: 0 }; after !== undefined; ) {
    const { rows } = await read(after, limit).execute(db);
    yield rows;
    after = rows.length < limit ? undefined : rows.at(-1);
  }
}

/**
 * What pauses a deployment beside its owner: its account was disabled, or the operator paused it. Each of the three
 * causes of `isPaused` is lifted only by who set it.
 */
export interface PauseCause {
  readonly name: 'account' | 'operator';
  /** The service in whose name the owners are called, as the journal shows it. */
  readonly caller: string;
  /** The deployments that do not follow this cause yet, so many at once. */
  readonly pending: (limit: number) => AsyncIterable<readonly PendingPause[]>;
}

export interface PendingPause {
  readonly address: string;
  readonly id: number;
  readonly paused: boolean;
}

/** The operator's pauses, wherever a deployment does not follow them yet. */
export const operatorPauses = (db: Db): PauseCause => ({
  name: 'operator',
  caller: 'operator',
  pending: (limit) => inPages(db, limit, ofOperator),
});

const ofOperator = ({ id }: Place, limit: number) => sql<PendingPause & Place>`
  select d.owner_account_id as account, d.id, d.address, p.paused
  from operator_pauses p join deployments d on d.id = p.deployment_id
  where d.operator_paused <> p.paused and d.deleted_at is null and p.deployment_id > ${id}
  order by p.deployment_id limit ${limit}`;

/** Where a deployment stands with the operator. */
export interface OperatorPause {
  readonly id: number;
  readonly address: string;
  /** What its owner has carried out. */
  readonly isPaused: boolean;
}

/** By address (in any case) or numeric id; `undefined` when there is no such deployment. */
export async function findOperatorPause(db: Db, deployment: string): Promise<OperatorPause | undefined> {
  const named = /^\d{1,15}$/.test(deployment)
    ? sql`id = ${Number(deployment)}`
    : sql`address = ${deployment.toLowerCase()}`;
  const { rows } = await sql<OperatorPause>`
    select id, address, operator_paused as "isPaused" from deployments
    where ${named} and deleted_at is null`.execute(db);
  return rows[0];
}

/** Asks for a deployment to be paused or resumed: its owner does so within seconds, in the order of its executions. */
export async function requestOperatorPause(db: Db, deploymentId: number, paused: boolean): Promise<void> {
  await sql`
    insert into operator_pauses (deployment_id, paused) values (${deploymentId}, ${paused})
    on conflict (deployment_id) do update set paused = excluded.paused`.execute(db);
}
