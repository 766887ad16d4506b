import { connect, type Database, migrate } from '@orrery/database';
import type { Clock, Logger } from '@orrery/service-kit';
import { migrations } from './migrations/index.js';
import type { GatewaySchema } from './schema.js';

export interface OpenDatabaseOptions {
  databaseUrl: string;
  logger: Logger;
  clock?: Clock;
  maxConnections?: number;
  signal?: AbortSignal;
}

/** Connects to the gateway's schema and brings it up to date. @throws StartupError that says what to do. */
export async function openDatabase(options: OpenDatabaseOptions): Promise<Database<GatewaySchema>> {
  const { databaseUrl: url, ...rest } = options;
  const database = await connect<GatewaySchema>({
    ...rest,
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
