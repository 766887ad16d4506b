import { jsonb } from '@orrery/database';
import type { Transaction } from 'kysely';
import type { GatewaySchema } from '../database/schema.js';
import type { AccountRow } from './account-store.js';
import { announceAccount } from './change-account.js';

/** The account of a wallet, made at its first sign-in. Two first sign-ins at once end with one account. */
export async function accountOfWallet(trx: Transaction<GatewaySchema>, wallet: string): Promise<AccountRow> {
  const created = await trx
    .insertInto('accounts')
    .values({ name: wallet, wallet, quotas: jsonb({}) })
    .onConflict((conflict) => conflict.column('wallet').doNothing())
    .returningAll()
    .executeTakeFirst();
  if (created !== undefined) {
    await announceAccount(trx, created);
    return created;
  }
  return await trx.selectFrom('accounts').selectAll().where('wallet', '=', wallet).executeTakeFirstOrThrow();
}
