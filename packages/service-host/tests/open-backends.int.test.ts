import { EventEmitter, once } from 'node:events';
import { type Bus, connectBus, createInProcessHub, serviceCall } from '@orrery/bus';
import { defineContract, rpc } from '@orrery/contracts';
import { systemClock as clock, createHealth, createLogger, Resources } from '@orrery/service-kit';
import { createTestDatabase, PATIENT } from '@orrery/testing';
import { fillDisk } from '@orrery/testing/servers';
import { expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import { openBackends } from '../src/index.js';

const logger = createLogger({ service: 'test', level: 'silent' });

async function openService() {
  const resources = new Resources(PATIENT);
  onTestFinished(() => resources.release());
  const { url: databaseUrl } = resources.use('test database', await createTestDatabase());
  const hub = createInProcessHub({ logger, clock });
  const join = async (service: string): Promise<Bus> => {
    const bus = await connectBus({ url: 'inprocess', hub, service, logger, clock });
    resources.add(`bus of ${service}`, () => bus.close());
    return bus;
  };
  const [caller, bus] = [await join('caller'), await join('rooms')];
  const health = createHealth({ clock });
  const shared = { databaseUrl, bus, clock, logger, health, resources };
  const database = await openBackends({ ...shared, service: 'rooms', schema: 'rooms', migrations: {} });
  return { resources, bus, caller, database, databaseUrl, health };
}

const roomsContract = defineContract('rooms', {
  'rooms.count': rpc({
    request: z.strictObject({}),
    reply: z.strictObject({ count: z.int() }),
    errors: [],
    access: { scope: 'none', relation: 'internal' },
  }),
});

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
  await expect.poll(async () => (await health.readiness()).status).toBe('ok');
});

it('answers the calls that it has taken before it closes its connections', async () => {
  const { resources, bus, caller, database } = await openService();
  const steps = new EventEmitter();
  const taken = once(steps, 'taken');
  await bus.serve(roomsContract, {
    'rooms.count': async () => {
      const mayRead = once(steps, 'may read');
      steps.emit('taken');
      await mayRead;
      const { rows } = await database.pool.query<{ count: number }>('select 3 as count');
      return { count: rows[0]?.count ?? 0 };
    },
  });
  const close = vi.spyOn(bus, 'close');
  const call = caller.call(roomsContract.rpcs['rooms.count'], {}, serviceCall('caller', clock, 10_000));
  await taken;
  const released = resources.release();
  await vi.waitFor(() => expect(close).toHaveBeenCalled());
  steps.emit('may read');
  await expect(call).resolves.toEqual({ count: 3 });
  await released;
});
