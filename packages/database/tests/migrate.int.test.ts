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

/** A schema with a reader in a transaction, as `pg_dump` is one, and a migration that needs what it holds. */
async function besideReader() {
  const database = await open<unknown>(await newDatabaseUrl());
  await migrate({ database, migrations, logger: quiet });
  const reader = await database.pool.connect();
  onTestFinished(() => reader.release(true));
  await reader.query('begin; select from walls');
  const height = {
    up: async (db: Kysely<unknown>) => {
      await sql`lock table doors`.execute(db);
      await sql`alter table walls add column height integer`.execute(db);
    },
  };
  return { database, reader, newer: { ...migrations, '0003_height': height } };
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

  it('lets calls pass while it waits for a lock, and gets it once the table is free', async () => {
    const { database, reader, newer } = await besideReader();
    const migrated = migrate({ database, migrations: newer, logger: quiet });
    await vi.waitFor(async () => expect(await waitingForLocks(database.db)).toBe(1), { interval: 10 });
    await database.pool.query('select from walls');
    await database.pool.query('select from doors');
    await reader.query('commit');
    await migrated;
    await database.pool.query('select height from walls');
  });

  it('says which process holds a table for too long', async () => {
    const { database, reader, newer } = await besideReader();
    const { rows } = await reader.query('select pg_backend_pid() as pid');
    const migrating = migrate({ database, migrations: newer, logger: quiet, lockTries: 2 });
    await expect(migrating).rejects.toThrow(StartupError);
    await expect(migrating).rejects.toThrow(
      `The schema rooms cannot be migrated now: a long transaction, such as a backup, holds tables (test, process ${rows[0].pid}). Nothing is half done: start again when it has ended.`,
    );
  });

  it('keeps nobody waiting when its session ends between two tries', async () => {
    const { database, reader, newer } = await besideReader();
    const isWaiting = Promise.withResolvers<void>();
    const info = (_: unknown, text: string) => text.startsWith('a migration waits') && isWaiting.resolve();
    const migrated = migrate({ database, migrations: newer, logger: { ...quiet, info } as typeof quiet });
    await isWaiting.promise;
    const holder = `select pid from pg_locks where locktype = 'advisory'
      and database = (select oid from pg_database where datname = current_database())`;
    const pid = async () => (await database.pool.query(holder)).rows[0]?.pid;
    const first = await pid();
    const end = `select pg_terminate_backend(pid) from pg_stat_activity where pid = $1 and state = 'idle'`;
    await vi.waitFor(async () => expect((await database.pool.query(end, [first])).rows).not.toEqual([]), {
      interval: 10,
    });
    await vi.waitFor(async () => expect([undefined, first]).not.toContain(await pid()), { interval: 10 });
    await vi.waitFor(async () => expect(await waitingForLocks(database.db)).toBe(1), { interval: 10 });
    await database.pool.query('select from walls');
    await reader.query('commit');
    await migrated;
    await database.pool.query('select height from walls');
  });

  it('begins anew after a deadlock', async () => {
    const { database, reader, newer } = await besideReader();
    // The server ends the one of them that looks for a deadlock first.
    await reader.query(`set local deadlock_timeout = '1h'`);
    let crossed: Promise<unknown> | undefined;
    const cross = async (db: Kysely<unknown>) => {
      await sql`set local deadlock_timeout = '1ms'`.execute(db);
      await sql`lock table doors`.execute(db);
      crossed = reader.query('select from doors; commit');
      await vi.waitFor(async () => expect(await waitingForLocks(database.db)).toBe(1));
    };
    const crossing = {
      up: async (db: Kysely<unknown>) => {
        if (crossed === undefined) await cross(db);
        await newer['0003_height'].up(db);
      },
    };
    const logged: unknown[] = [];
    const logger = { ...quiet, info: (...line: unknown[]) => void logged.push(line) } as typeof quiet;
    await migrate({ database, migrations: { ...newer, '0003_height': crossing }, logger });
    await crossed;
    await database.pool.query('select height from walls');
    expect(logged).toContainEqual([{ schema: 'rooms' }, 'a migration waits for tables that others hold']);
  });

  it('is bounded by itself alone, not by what a role may wait for', async () => {
    const url = await newDatabaseUrl();
    const name = new URL(url).pathname.slice(1);
    const [first, second] = await Promise.all([open<unknown>(url), open<unknown>(url)]);
    for (const bound of ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'])
      await first.pool.query(`alter role current_user in database ${name} set ${bound} = '1ms'`);
    await Promise.all([first, second].map((database) => migrate({ database, migrations, logger: quiet })));
    expect(await tablesOf(first.db)).toContain('walls');
  });

  it('says so where its user may not', async () => {
    const url = new URL(await newDatabaseUrl());
    const owner = await open<unknown>(url.href);
    url.username = `guest_of${url.pathname.replace('/', '_')}`;
    await owner.pool.query(`create role ${url.username} login`);
    onTestFinished(async () => void (await owner.pool.query(`drop role ${url.username}`)));
    const database = await open<unknown>(url.href);
    const migrating = migrate({ database, migrations, logger: quiet });
    await expect(migrating).rejects.toThrow(StartupError);
    await expect(migrating).rejects.toThrow(
      /^The schema rooms cannot be migrated, since PostgreSQL refuses it \(permission denied for database \w+\): allow/,
    );
  });

  it('says so where the server takes no writes', async () => {
    const url = await newDatabaseUrl();
    const owner = await open<unknown>(url);
    const name = new URL(url).pathname.slice(1);
    await owner.pool.query(`alter database ${name} set default_transaction_read_only = on`);
    const migrating = migrate({ database: await open<unknown>(url), migrations, logger: quiet });
    await expect(migrating).rejects.toThrow(StartupError);
    await expect(migrating).rejects.toThrow(
      'The schema rooms was not migrated: PostgreSQL takes no writes (cannot execute CREATE SCHEMA in a read-only transaction): connect to its primary',
    );
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
