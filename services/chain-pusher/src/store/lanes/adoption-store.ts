import { sql } from 'kysely';
import type { Db, Lane } from '../tables/schema.js';

/** What is known of a lane, or undefined where nothing was ever pushed. */
export async function findLane(
  db: Db,
  deployment: string,
  chain: string,
): Promise<{ stop: string | null; sent: number; last: number } | undefined> {
  return db
    .selectFrom('lanes')
    .select(['stop', 'sent_number as sent', 'last_number as last'])
    .where('deployment', '=', deployment)
    .where('chain', '=', chain)
    .executeTakeFirst();
}

/** Asks the process that sends to the chain to let the lane go on from the chain's number. */
export const requestAdoption = (db: Db, deployment: string, chain: string) =>
  sql`
    insert into adoptions (deployment, chain) values (${deployment}, ${chain})
    on conflict (deployment, chain) do update set outcome = null, requested_at = now()`.execute(db);

/** What came of it; undefined while it is under way. */
export async function adoptionOutcome(
  db: Db,
  deployment: string,
  chain: string,
): Promise<string | undefined> {
  const found = await db
    .selectFrom('adoptions')
    .select('outcome')
    .where('deployment', '=', deployment)
    .where('chain', '=', chain)
    .executeTakeFirst();
  return found?.outcome ?? undefined;
}

/** Adoptions that the operator asked for and that are not done. */
export const openAdoptions = (db: Db, chain: string): Promise<Lane[]> =>
  db
    .selectFrom('adoptions')
    .select(['deployment', 'chain'])
    .where('chain', '=', chain)
    .where('outcome', 'is', null)
    .limit(100)
    .execute();
