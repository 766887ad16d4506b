import { connect, type Database, migrate } from '@orrery/database';
import type { Clock, Logger } from '@orrery/service-kit';
import { migrations } from './migrations/index.js';
import type { CatalogSchema } from './schema.js';

export interface OpenDatabaseOptions {
  readonly databaseUrl: string;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** The catalog's schema, brought up to date. @throws StartupError when the database cannot be used. */
export async function openDatabase({
  databaseUrl: url,
  clock,
  logger,
}: OpenDatabaseOptions): Promise<Database<CatalogSchema>> {
  const connection = { url, schema: 'catalog', applicationName: 'orrery-catalog', clock, logger };
  const database = await connect<CatalogSchema>(connection);
  try {
    await migrate({ database, migrations, logger });
  } catch (error) {
    await database.close();
    throw error;
  }
  return database;
}
