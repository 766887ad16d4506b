import { transaction } from '@orrery/database';
import { type Kysely, sql } from 'kysely';
import type { GatewaySchema } from '../database/schema.js';
import { lockAccount } from './account-store.js';

/**
 * Revokes a key and all keys that it made, and those that they made. Returns the ids of the keys that it ended: none where
 * the account has no such key.
 */
export const revokeKey = (db: Kysely<GatewaySchema>, accountId: number, keyId: string): Promise<string[]> =>
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
