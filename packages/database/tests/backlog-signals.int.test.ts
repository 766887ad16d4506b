import { inboxMigration, migrate, outboxMigration, watchBacklogs } from '@orrery/database';
import { startTelemetry } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import { newDatabaseUrl, open, quiet } from './test-connection.js';

it('shows what waits: unpublished messages by their age, and deployments that a dead letter stops', async () => {
  await using telemetry = await startTelemetry({ service: 'rooms', tracing: false, metrics: true });
  const database = await open<object>(await newDatabaseUrl());
  const migrations = { '0001_outbox': outboxMigration, '0002_inbox': inboxMigration };
  await migrate({ database, migrations, logger: quiet });
  await watchBacklogs(database);
  expect(await telemetry.metricsPage()).toMatch(/^orrery_outbox_oldest_seconds\{.*schema="rooms".*\} 0$/m);

  await database.pool.query(`insert into outbox (name, ordering_key, message_id, created_at)
    values ('n', 'k', 'm', now() - interval '90 seconds')`);
  await database.pool.query(`insert into inbox_parked (consumer, ordering_key, seq, reason, payload)
    values ('c', 'a', 1, 'r', '{}'), ('c', 'b', 1, 'r', '{}')`);
  const page = await telemetry.metricsPage();
  expect(Number(/^orrery_outbox_oldest_seconds\{.*\} (\S+)$/m.exec(page)?.[1])).toBeGreaterThanOrEqual(90);
  expect(page).toMatch(/^orrery_consumer_dead_letters\{.*consumer="c".*\} 2$/m);
});
