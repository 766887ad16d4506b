import { type Kysely, sql } from 'kysely';
import type { ChallengesTable, GatewaySchema } from '../database/schema.js';

/** Stores a challenge and deletes up to 100 expired ones. */
export async function storeChallenge(db: Kysely<GatewaySchema>, challenge: ChallengesTable): Promise<void> {
  await sql`
    delete from challenges where (wallet, message) in (
      select wallet, message from challenges where expires_at < now() limit 100 for update skip locked
    )`.execute(db);
  await db.insertInto('challenges').values(challenge).execute();
}

/** Deletes a challenge: true for exactly one caller over all replicas. */
export async function takeChallenge(
  db: Kysely<GatewaySchema>,
  { wallet, message }: Pick<ChallengesTable, 'wallet' | 'message'>,
  now: Date,
): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('challenges')
    .where('wallet', '=', wallet)
    .where('message', '=', message)
    .where('expires_at', '>', now)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
