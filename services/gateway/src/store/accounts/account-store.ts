import {
  type AccountQuotas,
  type AccountRecord,
  type AccountState,
  accountChanged,
  type JsonValue,
  MAX_QUOTA,
  ServiceError,
} from '@orrery/contracts';
import { enqueue, jsonb, page, transaction } from '@orrery/database';
import { type Selectable, sql, type UpdateObject } from 'kysely';
import type { AccountsTable, Db, GatewaySchema, Trx } from '../tables/schema.js';

export interface NewAccount {
  name: string;
  wallet?: string;
  quotas?: AccountQuotas;
}

/** An account as operators see it. */
export type AccountRow = Selectable<AccountsTable>;

export const accountRecordOf = (row: AccountRow): AccountRecord => ({
  id: row.id,
  name: row.name,
  wallet: row.wallet,
  quotas: row.quotas,
  createdAt: row.created_at.toISOString(),
  updatedAt: row.updated_at.toISOString(),
});

export const accountStateOf = (row: AccountRow): AccountState => ({
  accountId: row.id,
  disabled: row.disabled_at !== null,
  quotas: storableQuotas(row.quotas),
  revision: row.revision,
});

/** Quotas as other services can store them: a state that one of them refuses would hide a later pause too. */
function storableQuotas({ worlds, deployments, pushesPerDay, ...rest }: AccountQuotas): AccountQuotas {
  const counts = Object.entries({ worlds, deployments, pushesPerDay }).flatMap(([name, count]) =>
    count === undefined ? [] : [[name, Math.min(count, MAX_QUOTA)] as const],
  );
  return { ...rest, ...Object.fromEntries(counts) };
}

export async function insertAccount(db: Db, account: NewAccount): Promise<AccountRow> {
  const { name, wallet = null, quotas = {} } = account;
  return await db
    .insertInto('accounts')
    .values({ name, wallet, quotas: jsonb(quotas) })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** A page of accounts by id, for operators. */
export const listAccounts = (db: Db, query: { page: number; limit: number }): Promise<AccountRow[]> =>
  page(db.selectFrom('accounts').selectAll().orderBy('id'), query).execute();

export const findAccount = (db: Db, id: number): Promise<AccountRow | undefined> =>
  db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();

/** Up to `limit` accounts by rising id. */
export const accountsAfter = (db: Db, afterId: number, limit: number): Promise<AccountRow[]> =>
  db.selectFrom('accounts').selectAll().where('id', '>', afterId).orderBy('id').limit(limit).execute();

/** Locks the account until the transaction ends, so that a count of its rows stays correct. */
export async function lockAccount(db: Db, id: number): Promise<void> {
  await sql`select from accounts where id = ${id} for update`.execute(db);
}

/** Disables an account, or enables it again; its tokens follow within a second. @throws ServiceError `account_not_found`. */
export const setAccountDisabled = (db: Db, id: number, disabled: boolean): Promise<AccountRow> =>
  changeAccount(db, id, { disabled_at: disabled ? sql<Date>`coalesce(disabled_at, now())` : null });

/** Replaces an account's quotas; an absent one is not limited. @throws ServiceError `account_not_found`. */
export const setAccountQuotas = (db: Db, id: number, quotas: AccountQuotas): Promise<AccountRow> =>
  changeAccount(db, id, { quotas: jsonb(quotas) });

type Change = UpdateObject<GatewaySchema, 'accounts'>;

/** Every change raises the revision and is announced, in one transaction. */
const changeAccount = (db: Db, id: number, change: Change): Promise<AccountRow> =>
  transaction(db, async (trx) => {
    const account = await trx
      .updateTable('accounts')
      .set({ ...change, revision: sql`revision + 1`, updated_at: sql`now()` })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirst();
    if (account === undefined) throw new ServiceError('account_not_found', `There is no account ${id}.`);
    await announceAccount(trx, account);
    return account;
  });

/** Writes an account's state to the outbox. The transaction locks the account's row, so states are published in order. */
export async function announceAccount(trx: Trx, account: AccountRow): Promise<void> {
  const { id, revision } = account;
  // Comes from `jsonb`, so there is no `undefined` in it.
  const payload = accountStateOf(account) as unknown as JsonValue;
  const messageId = `account-${id}-${revision}`;
  await enqueue(trx, [{ name: accountChanged.name, orderingKey: `account:${id}`, messageId, payload }]);
}
