import type { KeyRecord, PageQuery, Scope } from '@orrery/contracts';
import { page } from '@orrery/database';
import { type Insertable, type Selectable, sql } from 'kysely';
import type { Db, KeysTable } from '../tables/schema.js';

export type KeyRow = Selectable<KeysTable>;

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

export const insertKey = (db: Db, key: Insertable<KeysTable>): Promise<KeyRow> =>
  db.insertInto('keys').values(key).returningAll().executeTakeFirstOrThrow();

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
export const findKey = (db: Db, accountId: number, keyId: string): Promise<KeyRow | undefined> =>
  keysOf(db, accountId).selectAll().where('id', '=', keyId).executeTakeFirst();

/** When a key ends, revoked or not. */
export const findExpiry = (db: Db, keyId: string) =>
  db.selectFrom('keys').select('expires_at').where('id', '=', keyId).executeTakeFirst();

/** Revokes this key alone: another one takes its place. */
export async function revokeKeyRow(db: Db, keyId: string): Promise<void> {
  await db.updateTable('keys').set({ revoked_at: sql`now()` }).where('id', '=', keyId).execute();
}

/** From now on what one key made counts as made by another. */
export async function giveMadeKeys(db: Db, { from, to }: { from: string; to: string }): Promise<void> {
  await db.updateTable('keys').set({ made_by: to }).where('made_by', '=', from).execute();
}

/** Lets a key expire in `seconds`, unless it does so before. */
export async function expireKeyRow(db: Db, keyId: string, seconds: number): Promise<void> {
  await db
    .updateTable('keys')
    .set({ expires_at: sql`least(expires_at, now() + make_interval(secs => ${seconds}))` })
    .where('id', '=', keyId)
    .execute();
}

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
