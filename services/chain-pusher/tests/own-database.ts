import { openChainPusherDatabase } from '@orrery/chain-pusher/operator';
import { createLogger } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { onTestFinished } from 'vitest';
import type { Db } from '../src/store/tables/schema.js';

/** A database with the chain-pusher's tables and no chain-pusher, for one test. */
export async function ownDatabase(maxConnections = 2): Promise<Db> {
  const { url: databaseUrl } = await createTestDatabase();
  const logger = createLogger({ service: 'test', level: 'silent' });
  const database = await openChainPusherDatabase({ databaseUrl, logger, maxConnections });
  onTestFinished(() => database.close());
  return database.db;
}
