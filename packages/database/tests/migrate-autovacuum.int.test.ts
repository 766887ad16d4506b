import { migrate, statements } from '@orrery/database';
import { query, startReplicatedPostgres } from '@orrery/testing/servers';
import { expect, it, vi } from 'vitest';
import { open, quiet } from './test-connection.js';

it('a migration ends the vacuum of a table that the server has begun, and goes on', async () => {
  await using postgres = await startReplicatedPostgres();
  const { url } = postgres.primary;
  await query(url, `alter system set autovacuum_naptime = '1s'`);
  await query(url, 'select pg_reload_conf()');
  // It would take a minute.
  const slow =
    'autovacuum_vacuum_cost_delay = 100, autovacuum_vacuum_cost_limit = 1, autovacuum_vacuum_threshold = 0';
  const migrations = {
    '0001_walls': statements(`
      create table walls with (${slow}) as select id from generate_series(1, 100000) id; delete from walls;`),
  };
  const database = await open<unknown>(url);
  await migrate({ database, migrations, logger: quiet });
  const vacuums = () =>
    query(url, `select from pg_stat_progress_vacuum where relid = 'rooms.walls'::regclass`);
  await vi.waitFor(async () => expect(await vacuums()).toHaveLength(1));
  const newer = { ...migrations, '0002_height': statements('alter table walls add column height integer;') };
  await migrate({ database, migrations: newer, logger: quiet, lockTries: 4 });
  await database.pool.query('select height from walls');
});
