import { type AccountQuotas, accountChanged, type JsonValue, ServiceError } from '@orrery/contracts';
import { enqueue, jsonb, transaction } from '@orrery/database';
import { type Kysely, sql, type Transaction, type UpdateObject } from 'kysely';
import type { GatewaySchema } from '../database/schema.js';
import { type AccountRow, accountStateOf } from './account-store.js';

/** Disables an account, or enables it again; its tokens follow within a second. @throws ServiceError `account_not_found`. */
export const setAccountDisabled = (
  db: Kysely<GatewaySchema>,
  id: number,
  disabled: boolean,
): Promise<AccountRow> =>
  changeAccount(db, id, { disabled_at: disabled ? sql<Date>`coalesce(disabled_at, now())` : null });

/** Replaces an account's quotas; an absent one is not limited. @throws ServiceError `account_not_found`. */
export const setAccountQuotas = (
  db: Kysely<GatewaySchema>,
  id: number,
  quotas: AccountQuotas,
): Promise<AccountRow> => changeAccount(db, id, { quotas: jsonb(quotas) });

type Change = UpdateObject<GatewaySchema, 'accounts'>;

/** Every change raises the revision and is announced, in one transaction. */
const changeAccount = (db: Kysely<GatewaySchema>, id: number, change: Change): Promise<AccountRow> =>
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
export async function announceAccount(trx: Transaction<GatewaySchema>, account: AccountRow): Promise<void> {
  const { id, revision } = account;
  // Comes from `jsonb`, so there is no `undefined` in it.
  const payload = accountStateOf(account) as unknown as JsonValue;
  const messageId = `account-${id}-${revision}`;
  await enqueue(trx, [{ name: accountChanged.name, orderingKey: `account:${id}`, messageId, payload }]);
}
