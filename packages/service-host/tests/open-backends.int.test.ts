import { type Bus, connectBus, createInProcessHub } from '@orrery/bus';
import { systemClock as clock, createHealth, createLogger, Resources } from '@orrery/service-kit';
import { createTestDatabase, fillDisk } from '@orrery/testing';
import { expect, it, onTestFinished } from 'vitest';
import { openBackends } from '../src/index.js';

const logger = createLogger({ service: 'test', level: 'silent' });

async function openService() {
  const resources = new Resources();
  onTestFinished(() => resources.release());
  const { url: databaseUrl } = resources.use('test database', await createTestDatabase());
  const hub = resources.use('hub', await createInProcessHub({ databaseUrl, logger, clock }));
  const bus: Bus = await connectBus({ url: 'inprocess', hub, service: 'rooms', logger, clock });
  resources.add('bus', () => bus.close());
  const health = createHealth({ clock });
  const shared = { databaseUrl, bus, clock, logger, health, resources };
  const database = await openBackends({ ...shared, service: 'rooms', schema: 'rooms', migrations: {} });
  return { database, databaseUrl, health };
}

it('is not ready while the disk of the database is full', async () => {
  const { database, databaseUrl, health } = await openService();
  expect(await health.readiness()).toMatchObject({ status: 'ok' });
  await database.pool.query('create table items (id bigint)');
  const disk = await fillDisk(databaseUrl, 'rooms.items');
  await expect(database.pool.query('insert into items values (1)')).rejects.toMatchObject({ code: '53100' });
  expect(await health.readiness()).toMatchObject({
    status: 'unavailable',
    checks: { 'rooms storage': { status: 'unavailable', detail: 'the disk of the database is full' } },
  });
  await disk.release();
  await expect.poll(async () => (await health.readiness()).status, { timeout: 5000 }).toBe('ok');
});
