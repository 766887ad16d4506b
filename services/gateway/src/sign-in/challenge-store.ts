import { jsonb } from '@orrery/database';
import { type Kysely, sql } from 'kysely';
import type { GatewaySchema, SignedKey } from '../database/schema.js';

export interface Challenge {
  wallet: string;
  message: string;
  expiresAt: Date;
  /** The key that is signed for; null for a sign-in. */
  key: SignedKey | null;
}

/** Stores a challenge and deletes up to 100 expired ones. */
export async function storeChallenge(
  db: Kysely<GatewaySchema>,
  { wallet, message, expiresAt, key }: Challenge,
): Promise<void> {
  await sql`
    delete from challenges where (wallet, message) in (
      select wallet, message from challenges where expires_at < now() limit 100 for update skip locked
    )`.execute(db);
  const row = { wallet, message, expires_at: expiresAt, key: key && jsonb(key) };
  await db.insertInto('challenges').values(row).execute();
}

/** Deletes a challenge and returns what it is for, to exactly one caller over all replicas; undefined to others. */
export async function takeChallenge(
  db: Kysely<GatewaySchema>,
  { wallet, message }: Pick<Challenge, 'wallet' | 'message'>,
  now: Date,
): Promise<Pick<Challenge, 'key'> | undefined> {
  return await db
    .deleteFrom('challenges')
    .where('wallet', '=', wallet)
    .where('message', '=', message)
    .where('expires_at', '>', now)
    .returning('key')
    .executeTakeFirst();
}
