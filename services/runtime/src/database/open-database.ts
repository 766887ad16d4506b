import { connect, type Database, migrate } from '@orrery/database';
import type { Clock, Logger } from '@orrery/service-kit';
import type { RuntimeSchema } from '../context.js';
import { migrations } from './migrations/index.js';

export interface OpenDatabaseOptions {
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The runtime's schema, brought up to date. @throws StartupError when the database cannot be used. */
export async function openDatabase({
  databaseUrl: url,
  clock,
  logger,
}: OpenDatabaseOptions): Promise<Database<RuntimeSchema>> {
  const connection = { url, schema: 'runtime', applicationName: 'orrery-runtime', clock, logger };
  const database = await connect<RuntimeSchema>(connection);
  try {
    await migrate({ database, migrations, logger });
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}
