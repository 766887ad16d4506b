import { connect, type Database, migrate } from '@orrery/database';
import type { Logger } from '@orrery/service-kit';
import { migrations } from './migrations/index.js';
import type { GatewaySchema } from './schema.js';

/** Connects to the gateway's schema and brings it up to date. @throws StartupError that says what to do. */
export async function openDatabase({
  databaseUrl: url,
  ...options
}: {
  databaseUrl: string;
  logger: Logger;
  maxConnections?: number;
}): Promise<Database<GatewaySchema>> {
  const database = await connect<GatewaySchema>({
    ...options,
    url,
    schema: 'gateway',
    applicationName: 'orrery-gateway',
  });
  try {
    await migrate({ database, migrations, logger: options.logger });
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}
