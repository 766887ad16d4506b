import { type CreatedKey, type Scope, ServiceError } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import type { Kysely } from 'kysely';
import type { GatewaySchema } from '../database/schema.js';
import { type AccountRow, insertAccount, lockAccount, type NewAccount } from './account-store.js';
import { announceAccount } from './change-account.js';
import { countKeys, insertKey, keyRecordOf } from './key-store.js';
import { newToken } from './key-token.js';

/** Keys of one account that are not revoked. */
export const MAX_KEYS = 100;
export const ALL_SCOPES: readonly Scope[] = ['read', 'write', 'execute', 'keys'];

export interface NewKey {
  name: string;
  scopes: readonly Scope[];
  expiresAt?: Date | null;
}

/** Creates a key; only this answer contains its token. @throws ServiceError `limit_reached`. */
export const createKey = (db: Kysely<GatewaySchema>, accountId: number, key: NewKey): Promise<CreatedKey> =>
  transaction(db, async (trx) => {
    await lockAccount(trx, accountId);
    if ((await countKeys(trx, accountId)) >= MAX_KEYS)
      throw new ServiceError('limit_reached', `An account may have ${MAX_KEYS} keys. Revoke one first.`);
    return await addKey(trx, accountId, key);
  });

/** Inserts a key without a check of the limit, for transactions that have checked it or create the account. */
export async function addKey(db: Kysely<GatewaySchema>, accountId: number, key: NewKey): Promise<CreatedKey> {
  const { keyId, token, hash } = newToken();
  const { name, scopes, expiresAt = null } = key;
  const row = { id: keyId, account_id: accountId, name, hash, scopes: [...scopes], expires_at: expiresAt };
  return { ...keyRecordOf(await insertKey(db, row)), token };
}

/** The first account of an operator, or a new one, with a key of all scopes unless others are given. */
export const createAccountWithKey = (
  db: Kysely<GatewaySchema>,
  account: NewAccount,
  key: Partial<NewKey> = {},
): Promise<{ account: AccountRow; key: CreatedKey }> =>
  transaction(db, async (trx) => {
    const created = await insertAccount(trx, account);
    await announceAccount(trx, created);
    return {
      account: created,
      key: await addKey(trx, created.id, { name: 'first key', scopes: ALL_SCOPES, ...key }),
    };
  });
