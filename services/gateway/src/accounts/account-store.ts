import type { AccountQuotas, AccountRecord, AccountState } from '@orrery/contracts';
import { jsonb, page } from '@orrery/database';
import { type Kysely, type Selectable, sql } from 'kysely';
import type { AccountsTable, GatewaySchema } from '../database/schema.js';

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
  quotas: row.quotas,
  revision: row.revision,
});

export async function insertAccount(db: Kysely<GatewaySchema>, account: NewAccount): Promise<AccountRow> {
  const { name, wallet = null, quotas = {} } = account;
  return await db
    .insertInto('accounts')
    .values({ name, wallet, quotas: jsonb(quotas) })
    .returningAll()
    .executeTakeFirstOrThrow();
}

/** A page of accounts by id, for operators. */
export const listAccounts = (
  db: Kysely<GatewaySchema>,
  query: { page: number; limit: number },
): Promise<AccountRow[]> => page(db.selectFrom('accounts').selectAll().orderBy('id'), query).execute();

export const findAccount = (db: Kysely<GatewaySchema>, id: number): Promise<AccountRow | undefined> =>
  db.selectFrom('accounts').selectAll().where('id', '=', id).executeTakeFirst();

/** Up to `limit` accounts by rising id. */
export const accountsAfter = (
  db: Kysely<GatewaySchema>,
  afterId: number,
  limit: number,
): Promise<AccountRow[]> =>
  db.selectFrom('accounts').selectAll().where('id', '>', afterId).orderBy('id').limit(limit).execute();

/** Locks the account until the transaction ends, so that a count of its rows stays correct. */
export async function lockAccount(db: Kysely<GatewaySchema>, id: number): Promise<void> {
  await sql`select from accounts where id = ${id} for update`.execute(db);
}
