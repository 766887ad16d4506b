import { randomBytes } from 'node:crypto';
import { type CreatedKey, type Scope, ServiceError } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { sql } from 'kysely';
import { refuseLongerLife, refuseWiderScopes } from '../../core/keys/key-rules.js';
import { newToken } from '../../core/keys/key-token.js';
import type { Principal } from '../../core/requests/operation.js';
import {
  type AccountRow,
  announceAccount,
  insertAccount,
  lockAccount,
  type NewAccount,
} from '../accounts/account-store.js';
import type { Db, Trx } from '../tables/schema.js';
import {
  countKeys,
  expireKeyRow,
  findKey,
  giveMadeKeys,
  insertKey,
  type KeyRow,
  keyRecordOf,
  revokeKeyRow,
} from './key-store.js';

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
export const createKey = (db: Db, accountId: number, key: NewKey): Promise<CreatedKey> =>
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
  db: Db,
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
export async function lockMaker(trx: Trx, { accountId, keyId }: Principal): Promise<KeyRow> {
  await lockAccount(trx, accountId);
  const maker = await findKey(trx, accountId, keyId);
  if (maker === undefined) throw new ServiceError('unauthorized', 'The token is not valid.');
  return maker;
}

/** For transactions that have locked the account. @throws ServiceError `limit_reached`. */
export async function addKeyWithinLimit(trx: Trx, accountId: number, key: NewKey): Promise<CreatedKey> {
  if ((await countKeys(trx, accountId)) >= MAX_KEYS)
    throw new ServiceError('limit_reached', `An account may have ${MAX_KEYS} keys. Revoke one first.`);
  return await addKey(trx, accountId, key);
}

/** Inserts a key without a check of the limit, for transactions that replace one or create the account. */
export async function addKey(db: Db, accountId: number, key: NewKey): Promise<CreatedKey> {
  const { keyId, token, hash } = newToken(randomBytes);
  const { name, scopes, expiresAt = null, madeBy = null } = key;
  const row = { id: keyId, account_id: accountId, name, hash, scopes: [...scopes], expires_at: expiresAt };
  return { ...keyRecordOf(await insertKey(db, { ...row, made_by: madeBy })), token };
}

/** The first account of an operator, or a new one, with a key of all scopes unless others are given. */
export const createAccountWithKey = (
  db: Db,
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

export interface Rotation {
  keyId: string;
  /** Seconds that the old key goes on working; 0 revokes it at once. */
  graceSeconds: number;
}

/**
 * Replaces a key by a new one of the same name, scopes and expiry, which takes over what the old one made. The key of the
 * request makes the new one, since whoever holds it sees the token, unless it replaces itself.
 *
 * @throws ServiceError `key_not_found`, `forbidden`, `limit_reached` where the old key stays for a while.
 */
export const rotateKey = (
  db: Db,
  principal: Principal,
  { keyId, graceSeconds }: Rotation,
): Promise<CreatedKey> =>
  transaction(db, async (trx) => {
    const { accountId } = principal;
    const maker = await lockMaker(trx, principal);
    const old = await findKey(trx, accountId, keyId);
    if (old === undefined) throw new ServiceError('key_not_found');
    refuseWiderScopes(principal, old.scopes);
    refuseLongerLife(maker, old.expires_at);
    if (graceSeconds > 0) await expireKeyRow(trx, keyId, graceSeconds);
    else await revokeKeyRow(trx, keyId);
    const created = await (graceSeconds > 0 ? addKeyWithinLimit : addKey)(trx, accountId, {
      name: old.name,
      scopes: old.scopes,
      expiresAt: old.expires_at,
      madeBy: maker.id === keyId ? old.made_by : maker.id,
    });
    await giveMadeKeys(trx, { from: keyId, to: created.id });
    return created;
  });

/**
 * Revokes a key and all keys that it made, and those that they made. Returns the ids of the keys that it ended: none where
 * the account has no such key.
 */
export const revokeKey = (db: Db, accountId: number, keyId: string): Promise<string[]> =>
  transaction(db, async (trx) => {
    // No key is being made meanwhile, so none is missed.
    await lockAccount(trx, accountId);
    // `union` drops what was found before: keys that replaced each other's makers may form a circle.
    const { rows } = await sql<{ id: string }>`
      with recursive made as (
        select id from keys where id = ${keyId} and account_id = ${accountId} and revoked_at is null
        union
        select keys.id from keys join made on keys.made_by = made.id
      )
      update keys set revoked_at = now()
      where id in (select id from made) and revoked_at is null
      returning id`.execute(trx);
    return rows.map(({ id }) => id);
  });

/** How long a token from a sign-in is good. */
const TOKEN_MS = 24 * 3_600_000;

/** Creates the key of a sign-in. `name` says of which kind, and tells it from keys that people made. */
export async function addSessionKey(
  trx: Trx,
  accountId: number,
  name: string,
  now: Date,
): Promise<CreatedKey> {
  await retireExpired(trx, accountId, name, now);
  const expiresAt = new Date(now.getTime() + TOKEN_MS);
  return addKey(trx, accountId, { name, scopes: ALL_SCOPES, expiresAt });
}

/** Expired tokens of earlier sign-ins would accumulate in the account's list. */
async function retireExpired(trx: Trx, accountId: number, name: string, now: Date): Promise<void> {
  await trx
    .updateTable('keys')
    .set({ revoked_at: sql`now()` })
    .where('account_id', '=', accountId)
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .where('expires_at', '<=', now)
    .execute();
}
