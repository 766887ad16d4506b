import { connect, migrate } from '@orrery/database';
import type { Logger } from '@orrery/service-kit';
import { sql } from 'kysely';
import { migrations } from '../database/migrations/index.js';
import type { ChainPusherSchema, Db } from '../database/schema.js';

export interface OpenDatabaseOptions {
  readonly databaseUrl: string;
  readonly logger: Logger;
  readonly maxConnections: number;
}

/** Connects to the chain-pusher's schema and brings it up to date. @throws StartupError that says what to do. */
export async function openChainPusherDatabase({ databaseUrl, ...options }: OpenDatabaseOptions) {
  const connection = {
    ...options,
    url: databaseUrl,
    schema: 'chain_pusher',
    applicationName: 'orrery-operator',
  };
  const database = await connect<ChainPusherSchema>(connection);
  try {
    await migrate({ database, migrations, logger: options.logger });
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

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
