import { connect, type Database, type Migrations, migrate, watchBacklogs } from '@orrery/database';
import type { CheckResult, Resources } from '@orrery/service-kit';
import type { ServiceDependencies } from './service-dependencies.js';

export interface OpenBackendsOptions<Schema> extends ServiceDependencies {
  /** As in health checks and `pg_stat_activity`. */
  readonly service: string;
  /** The service's own schema of the database. */
  readonly schema: string;
  readonly migrations: Migrations;
  /** May refuse the database before anything is written to it. */
  readonly beforeMigration?: (database: Database<Schema>) => Promise<void>;
  /** Takes what is opened. */
  readonly resources: Resources;
}

const OK: CheckResult = { status: 'ok' };
const FULL: CheckResult = { status: 'unavailable', detail: 'the disk of the database is full' };
const READ_ONLY: CheckResult = { status: 'unavailable', detail: 'the database takes no writes' };
const AWAY: CheckResult = { status: 'unavailable' };

/**
 * Opens a service's schema of the database, brings it up to date, and has readiness look at it and at the bus. The release
 * closes the bus and then the database.
 * @throws StartupError when the database cannot be used.
 */
export async function openBackends<Schema>(options: OpenBackendsOptions<Schema>): Promise<Database<Schema>> {
  const { databaseUrl: url, bus, clock, logger, health, service, schema, migrations, resources } = options;
  const connection = { url, schema, applicationName: `orrery-${service}`, clock, logger };
  const database = resources.use('database', await connect<Schema>(connection));
  // Released before the database: calls that were taken are answered, and none is taken without it.
  resources.add('answers', () => bus.close());
  await options.beforeMigration?.(database);
  await migrate({ database, migrations, logger });
  await watchBacklogs(database);
  const checks = {
    [`${service} database`]: async () => ((await database.ping()).takesWrites ? OK : READ_ONLY),
    [`${service} storage`]: () => (database.storage.isFull ? FULL : OK),
    [`${service} bus`]: async () => ((await bus.health()).ok ? OK : AWAY),
  };
  for (const [name, check] of Object.entries(checks))
    resources.add(`${name} check`, health.register(name, check));
  return database;
}
