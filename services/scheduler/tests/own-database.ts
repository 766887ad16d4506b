import { connect, type Database, migrate } from '@orrery/database';
import { createLogger, systemClock } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { onTestFinished } from 'vitest';
import { migrations } from '../src/store/tables/migrations/index.js';
import type { SchedulerSchema } from '../src/store/tables/schema.js';

/** A database with the scheduler's tables and no scheduler, for one test. */
export async function ownDatabase(): Promise<Database<SchedulerSchema>> {
  const { url } = await createTestDatabase();
  const logger = createLogger({ service: 'test', level: 'silent' });
  const connection = { url, schema: 'scheduler', applicationName: 'test', clock: systemClock, logger };
  const database = await connect<SchedulerSchema>(connection);
  onTestFinished(() => database.close());
  await migrate({ database, migrations, logger });
  return database;
}
