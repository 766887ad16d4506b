import { randomBytes } from 'node:crypto';
import { type CreatedKey, type KeyRecord, type PageQuery, type Scope, ServiceError } from '@orrery/contracts';
import { page, transaction } from '@orrery/database';
import { type Selectable, sql } from 'kysely';
import { newToken, refuseLongerLife, refuseWiderScopes } from '../../core/keys/key-token.js';
import type { Principal } from '../../core/requests/operation.js';
import {
  type AccountRow,
  announceAccount,
  insertAccount,
  lockAccount,
  type NewAccount,
} from '../accounts/account-store.js';
import type { Db, KeysTable, Trx } from '../tables/schema.js';

type KeyRow = Selectable<KeysTable>;

/** A key as verification needs it: neither revoked nor of a disabled account. */
export interface UsableKey {
  keyId: string;
  hash: Buffer;
  accountId: number;
  scopes: readonly Scope[];
  /** Ms since epoch. */
  expiresAt: number | null;
}

export const keyRecordOf = (row: KeyRow): KeyRecord => ({
  id: row.id,
  name: row.name,
  scopes: row.scopes,
  createdAt: row.created_at.toISOString(),
  expiresAt: row.expires_at?.toISOString() ?? null,
  lastUsedAt: row.last_used_at?.toISOString() ?? null,
  madeBy: row.made_by,
});

const keysOf = (db: Db, accountId: number) =>
  db.selectFrom('keys').where('account_id', '=', accountId).where('revoked_at', 'is', null);

export async function countKeys(db: Db, accountId: number): Promise<number> {
  const { total } = await keysOf(db, accountId)
    .select(({ fn }) => fn.countAll<number>().as('total'))
    .executeTakeFirstOrThrow();
  return total;
}

/** A page of the keys that are not revoked, in order of creation. */
export const listKeyRows = (db: Db, accountId: number, query: PageQuery): Promise<KeyRow[]> =>
  page(keysOf(db, accountId).selectAll().orderBy('created_at').orderBy('id'), query).execute();

/** A key that is not revoked. */
const findKey = (db: Db, accountId: number, keyId: string): Promise<KeyRow | undefined> =>
  keysOf(db, accountId).selectAll().where('id', '=', keyId).executeTakeFirst();

/** When a key ends, revoked or not. */
export const findExpiry = (db: Db, keyId: string) =>
  db.selectFrom('keys').select('expires_at').where('id', '=', keyId).executeTakeFirst();

/** The given keys that are neither revoked nor of a disabled account. The caller checks whether they have expired. */
export async function loadUsableKeys(db: Db, keyIds: string[]): Promise<Map<string, UsableKey>> {
  const rows = await db
    .selectFrom('keys')
    .innerJoin('accounts', 'accounts.id', 'keys.account_id')
    .select(['keys.id', 'keys.hash', 'keys.account_id', 'keys.scopes', 'keys.expires_at'])
    .where(sql<boolean>`keys.id = any(${keyIds}::text[])`)
    .where('keys.revoked_at', 'is', null)
    .where('accounts.disabled_at', 'is', null)
    .execute();
  return new Map(
    rows.map(({ id, hash, account_id, scopes, expires_at }) => [
      id,
      { keyId: id, hash, accountId: account_id, scopes, expiresAt: expires_at?.getTime() ?? null },
    ]),
  );
}

/** When each key was used last, in one statement; an older time never replaces a newer one. */
export async function recordUses(db: Db, uses: ReadonlyMap<string, number>): Promise<void> {
  const ids = [...uses.keys()];
  const times = [...uses.values()].map((ms) => new Date(ms).toISOString());
  await sql`
    update keys set last_used_at = greatest(keys.last_used_at, used.at)
    from unnest(${ids}::text[], ${times}::timestamptz[]) as used (id, at)
    where keys.id = used.id`.execute(db);
}

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

/**
 * Creates a key that neither outranks nor outlives the one that makes it. Without `expiresAt` it ends with that one.
 *
 * @throws ServiceError `forbidden`, `limit_reached`; `unauthorized` when the maker was revoked meanwhile.
 */
export const createKeyBy = (
  db: Db,
  principal: Principal,
  { name, scopes, expiresAt: asked }: Pick<NewKey, 'name' | 'scopes'> & { expiresAt: Date | undefined },
): Promise<CreatedKey> =>
  transaction(db, async (trx) => {
    refuseWiderScopes(principal, scopes);
    const maker = await lockMaker(trx, principal);
    const expiresAt = asked ?? maker.expires_at;
    refuseLongerLife(maker, expiresAt);
    return await addKeyWithinLimit(trx, principal.accountId, { name, scopes, expiresAt, madeBy: maker.id });
  });

/** The key of the request as it is now: a revocation waits until the transaction ends, and finds what it made. */
async function lockMaker(trx: Trx, { accountId, keyId }: Principal): Promise<KeyRow> {
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
async function addKey(db: Db, accountId: number, key: NewKey): Promise<CreatedKey> {
  const { keyId, token, hash } = newToken(randomBytes);
  const { name, scopes, expiresAt = null, madeBy = null } = key;
  const row = { id: keyId, account_id: accountId, name, hash, scopes: [...scopes], expires_at: expiresAt };
  const inserted = db
    .insertInto('keys')
    .values({ ...row, made_by: madeBy })
    .returningAll();
  return { ...keyRecordOf(await inserted.executeTakeFirstOrThrow()), token };
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

/**
 * Replaces a key by a new one of the same name, scopes and expiry, which takes over what the old one made. The key of the
 * request makes the new one, since whoever holds it sees the token, unless it replaces itself. The old one goes on working
 * for `graceSeconds`; 0 revokes it at once.
 *
 * @throws ServiceError `key_not_found`, `forbidden`, `limit_reached` where the old key stays for a while.
 */
export const rotateKey = (
  db: Db,
  principal: Principal,
  { keyId, graceSeconds }: { keyId: string; graceSeconds: number },
): Promise<CreatedKey> =>
  transaction(db, async (trx) => {
    const { accountId } = principal;
    const maker = await lockMaker(trx, principal);
    const old = await findKey(trx, accountId, keyId);
    if (old === undefined) throw new ServiceError('key_not_found');
    refuseWiderScopes(principal, old.scopes);
    refuseLongerLife(maker, old.expires_at);
    await trx
      .updateTable('keys')
      .set(
        graceSeconds > 0
          ? { expires_at: sql`least(expires_at, now() + make_interval(secs => ${graceSeconds}))` }
          : { revoked_at: sql`now()` },
      )
      .where('id', '=', keyId)
      .execute();
    const created = await (graceSeconds > 0 ? addKeyWithinLimit : addKey)(trx, accountId, {
      name: old.name,
      scopes: old.scopes,
      expiresAt: old.expires_at,
      madeBy: maker.id === keyId ? old.made_by : maker.id,
    });
    await trx.updateTable('keys').set({ made_by: created.id }).where('made_by', '=', keyId).execute();
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
    return await revokeWithMade(trx, accountId, [keyId]);
  });

async function revokeWithMade(trx: Trx, accountId: number, keyIds: readonly string[]): Promise<string[]> {
  // `union` drops what was found before: keys that replaced each other's makers may form a circle.
  const { rows } = await sql<{ id: string }>`
    with recursive made as (
      select id from keys where id = any(${keyIds}::text[]) and account_id = ${accountId} and revoked_at is null
      union
      select keys.id from keys join made on keys.made_by = made.id
    )
    update keys set revoked_at = now()
    where id in (select id from made) and revoked_at is null
    returning id`.execute(trx);
  return rows.map(({ id }) => id);
}

/** How long a token from a sign-in is good. */
const TOKEN_MS = 24 * 3_600_000;
/** Sign-ins of one kind that an account has at once: a further one ends the oldest. */
const MAX_SIGN_INS = 20;

/** Creates the key of a sign-in. `name` says of which kind, and tells it from keys that people made. */
export async function addSessionKey(
  trx: Trx,
  accountId: number,
  name: string,
  now: Date,
): Promise<CreatedKey> {
  await lockAccount(trx, accountId);
  // Expired tokens of earlier sign-ins would accumulate in the account's list.
  await trx
    .updateTable('keys')
    .set({ revoked_at: sql`now()` })
    .where('account_id', '=', accountId)
    .where('name', '=', name)
    .where('revoked_at', 'is', null)
    .where('expires_at', '<=', now)
    .execute();
  const expiresAt = new Date(now.getTime() + TOKEN_MS);
  const created = await addKey(trx, accountId, { name, scopes: ALL_SCOPES, expiresAt });
  // Keys that people made may have the same name: those have a maker, or are good for longer.
  const oldest = await keysOf(trx, accountId)
    .select('id')
    .where('name', '=', name)
    .where('made_by', 'is', null)
    .where('expires_at', '<=', expiresAt)
    .orderBy('created_at', 'desc')
    .offset(MAX_SIGN_INS)
    .execute();
  const ids = oldest.map(({ id }) => id);
  if (ids.length > 0) await revokeWithMade(trx, accountId, ids);
  return created;
}
