import { type CreatedKey, type Scope, ServiceError } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import type { Kysely, Transaction } from 'kysely';
import type { GatewaySchema } from '../database/schema.js';
import type { Principal } from '../operations/operation.js';
import { type AccountRow, insertAccount, lockAccount, type NewAccount } from './account-store.js';
import { announceAccount } from './change-account.js';
import { refuseLongerLife, refuseWiderScopes } from './key-rules.js';
import { countKeys, findKey, insertKey, type KeyRow, keyRecordOf } from './key-store.js';
import { newToken } from './key-token.js';

/** Keys of one account that are not revoked. */
export const MAX_KEYS = 100;
export const ALL_SCOPES: readonly Scope[] = ['read', 'write', 'execute', 'keys'];

export interface NewKey {
  name: string;
  scopes: readonly Scope[];
  expiresAt?: Date | null;
  /** Id of the key that makes it; null where none does. */
  madeBy?: string | null;
}

/** Creates a key; only this answer contains its token. @throws ServiceError `limit_reached`. */
export const createKey = (db: Kysely<GatewaySchema>, accountId: number, key: NewKey): Promise<CreatedKey> =>
  transaction(db, async (trx) => {
    await lockAccount(trx, accountId);
    return await addKeyWithinLimit(trx, accountId, key);
  });

export interface AskedKey {
  name: string;
  scopes: readonly Scope[];
  /** Undefined: it ends with the key that makes it. */
  expiresAt: Date | undefined;
}

/**
 * Creates a key that neither outranks nor outlives the one that makes it.
 *
 * @throws ServiceError `forbidden`, `limit_reached`; `unauthorized` when the maker was revoked meanwhile.
 */
export const createKeyBy = (
  db: Kysely<GatewaySchema>,
  principal: Principal,
  { name, scopes, expiresAt: asked }: AskedKey,
): Promise<CreatedKey> =>
  transaction(db, async (trx) => {
    refuseWiderScopes(principal, scopes);
    const maker = await lockMaker(trx, principal);
    const expiresAt = asked ?? maker.expires_at;
    refuseLongerLife(maker, expiresAt);
    return await addKeyWithinLimit(trx, principal.accountId, { name, scopes, expiresAt, madeBy: maker.id });
  });

/** The key of the request as it is now: a revocation waits until the transaction ends, and finds what it made. */
export async function lockMaker(
  trx: Transaction<GatewaySchema>,
  { accountId, keyId }: Principal,
): Promise<KeyRow> {
  await lockAccount(trx, accountId);
  const maker = await findKey(trx, accountId, keyId);
  if (maker === undefined) throw new ServiceError('unauthorized', 'The token is not valid.');
  return maker;
}

/** For transactions that have locked the account. @throws ServiceError `limit_reached`. */
export async function addKeyWithinLimit(
  trx: Transaction<GatewaySchema>,
  accountId: number,
  key: NewKey,
): Promise<CreatedKey> {
  if ((await countKeys(trx, accountId)) >= MAX_KEYS)
    throw new ServiceError('limit_reached', `An account may have ${MAX_KEYS} keys. Revoke one first.`);
  return await addKey(trx, accountId, key);
}

/** Inserts a key without a check of the limit, for transactions that replace one or create the account. */
export async function addKey(db: Kysely<GatewaySchema>, accountId: number, key: NewKey): Promise<CreatedKey> {
  const { keyId, token, hash } = newToken();
  const { name, scopes, expiresAt = null, madeBy = null } = key;
  const row = { id: keyId, account_id: accountId, name, hash, scopes: [...scopes], expires_at: expiresAt };
  return { ...keyRecordOf(await insertKey(db, { ...row, made_by: madeBy })), token };
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
