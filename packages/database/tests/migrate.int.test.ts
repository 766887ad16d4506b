import { type Migrations, migrate } from '@orrery/database';
import { StartupError } from '@orrery/service-kit';
import { type Kysely, sql } from 'kysely';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { startHoldingProxy } from './holding-proxy.js';
import { newDatabaseUrl, open, quiet } from './test-connection.js';

const creates = (table: string) => ({
  up: async (db: Kysely<unknown>) => {
    await sql`create table ${sql.table(table)} (id bigint primary key)`.execute(db);
  },
});
const migrations: Migrations = { '0001_walls': creates('walls'), '0002_doors': creates('doors') };

async function tablesOf(db: Kysely<unknown>): Promise<string[]> {
  const found = sql<{
    name: string;
  }>`select tablename as name from pg_tables where schemaname = 'rooms' order by 1`;
  return (await found.execute(db)).rows.map(({ name }) => name);
}

async function waitingForLocks(db: Kysely<unknown>): Promise<number> {
  const waiting = sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  return (await waiting.execute(db)).rows.length;
}

describe('migrate', () => {
  it('waits for a server that is busy at the start for longer than a statement does', async () => {
    const server = await startHoldingProxy(await newDatabaseUrl());
    const database = await open<unknown>(server.url);
    server.hold();
    const migrated = migrate({ database, migrations, logger: quiet });
    migrated.catch(() => undefined);
    const { pool, close } = database.beside({});
    onTestFinished(close);
    await expect(pool.query('select 1')).rejects.toThrow('timeout');
    server.letGo();
    await migrated;
    expect(await tablesOf(database.db)).toContain('walls');
  });

  it.each(['pg_advisory_lock', 'create schema if not exists', 'create table "walls"', 'commit'])(
    'is tried again when the connection is lost at %s',
    async (statement) => {
      let breaks = 1;
      const server = await startHoldingProxy(await newDatabaseUrl(), (sent) => {
        if (!sent.includes(statement)) return false;
        breaks -= 1;
        return breaks >= 0;
      });
      const database = await open<unknown>(server.url);
      await migrate({ database, migrations, logger: quiet });
      expect(breaks).toBeLessThanOrEqual(0);
      expect(await tablesOf(database.db)).toEqual(['doors', 'migration', 'migration_lock', 'walls']);
    },
  );

  it('says so when the connection is lost each time, and does not blame the build', async () => {
    const server = await startHoldingProxy(await newDatabaseUrl(), (sent) =>
      sent.includes('create table "walls"'),
    );
    const database = await open<unknown>(server.url);
    const error = await migrate({ database, migrations, logger: quiet }).catch((caught: unknown) => caught);
    expect(error).toBeInstanceOf(StartupError);
    expect((error as Error).message).toMatch(
      /^The connection to PostgreSQL was lost while the schema rooms was migrated \(.+\): nothing is half done, see that the server runs and start again\.$/,
    );
  });

  it('lets eight replicas start at once on an empty database', async () => {
    const url = await newDatabaseUrl();
    const [first, ...others] = await Promise.all(Array.from({ length: 8 }, () => open<unknown>(url)));
    if (first === undefined) throw new Error('no replica');
    // An unfinished CREATE SCHEMA makes them all wait, so that they truly go on at the same moment.
    const racing = await first.db.startTransaction().execute();
    await sql`create schema rooms`.execute(racing);
    const starts = [first, ...others].map((database) => migrate({ database, migrations, logger: quiet }));
    await vi.waitUntil(async () => (await waitingForLocks(first.db)) === 8);
    await racing.rollback().execute();
    await Promise.all(starts);
    expect(await tablesOf(first.db)).toEqual(['doors', 'migration', 'migration_lock', 'walls']);
  });

  it('keeps the services of one database apart', async () => {
    const url = await newDatabaseUrl();
    const services = await Promise.all(
      ['catalog', 'runtime'].map((schema) => open<unknown>(url, { schema })),
    );
    await Promise.all(services.map((database) => migrate({ database, migrations, logger: quiet })));
    const found = await sql`select schemaname from pg_tables where tablename = 'walls' order by 1`.execute(
      (services[0] ?? (await open<unknown>(url))).db,
    );
    expect(found.rows).toEqual([{ schemaname: 'catalog' }, { schemaname: 'runtime' }]);
  });

  it('adds what is new and leaves the rest alone', async () => {
    const database = await open<unknown>(await newDatabaseUrl());
    await migrate({ database, migrations, logger: quiet });
    await migrate({ database, migrations: { ...migrations, '0003_roofs': creates('roofs') }, logger: quiet });
    expect(await tablesOf(database.db)).toContain('roofs');
  });

  it('names a broken migration and rolls all of them back', async () => {
    const database = await open<unknown>(await newDatabaseUrl());
    const broken = { ...migrations, '0003_roofs': creates('walls') };
    const error = await migrate({ database, migrations: broken, logger: quiet }).catch(
      (caught: unknown) => caught,
    );
    expect(error).toBeInstanceOf(StartupError);
    expect((error as Error).message).toBe(
      'The migration 0003_roofs of schema rooms failed and was rolled back (relation "walls" already exists): report it and start the build that ran before.',
    );
    expect(await tablesOf(database.db)).not.toContain('walls');
  });

  it('refuses a database that a newer build has migrated', async () => {
    const database = await open<unknown>(await newDatabaseUrl());
    await migrate({ database, migrations, logger: quiet });
    const { '0001_walls': older } = migrations;
    const migrating = migrate({ database, migrations: older ? { '0001_walls': older } : {}, logger: quiet });
    await expect(migrating).rejects.toThrow(StartupError);
    await expect(migrating).rejects.toThrow('migrated by a newer build (migration 0002_doors)');
  });
});
