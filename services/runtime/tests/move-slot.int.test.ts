import { connect } from '@orrery/database';
import { createLogger, Resources } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { query, startReplicatedPostgres } from '@orrery/testing/servers';
import { expect, it, vi } from 'vitest';
import type { RuntimeSchema } from '../src/operator.js';
import { hasSlot } from '../src/store/leases/moves/replication.js';

it('a slot of which the server has thrown the log away counts as gone', async () => {
  await using resources = new Resources(PATIENT);
  const servers = resources.use('servers', await startReplicatedPostgres());
  const { url } = servers.primary;
  const logger = createLogger({ service: 'test', level: 'fatal' });
  const { db } = resources.use(
    'database',
    await connect<RuntimeSchema>({ url, schema: 'runtime', applicationName: 'test', logger }),
  );
  const replication = { source: db, target: db, partition: 1, name: 'orrery_move_1' };
  await query(url, `select pg_create_logical_replication_slot('orrery_move_1', 'pgoutput')`);
  expect(await hasSlot(replication)).toBe(true);
  await query(url, `alter system set max_slot_wal_keep_size = '1MB'`);
  await query(url, 'select pg_reload_conf()');
  await vi.waitFor(async () => {
    await query(url, `select pg_logical_emit_message(false, 'test', repeat('x', 1000)), pg_switch_wal()`);
    await query(url, 'checkpoint');
    expect(
      await query(url, `select wal_status as status from pg_replication_slots where slot_type = 'logical'`),
    ).toEqual([{ status: 'lost' }]);
  });
  expect(await hasSlot(replication)).toBe(false);
});
