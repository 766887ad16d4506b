import { connect } from '@orrery/database';
import { systemClock } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { expect, it, vi } from 'vitest';
import { pruneMessages } from '../src/in-process/log/open-log.js';
import type { BusSchema } from '../src/in-process/log/tables.js';
import { connectBus, createInProcessHub } from '../src/index.js';
import { logLines } from './harness.js';
import { lapRun, raceCalled } from './specimens.js';

it('deletes what every consumer has handled, and in the end everything', async () => {
  const { logger } = logLines();
  await using testDatabase = await createTestDatabase();
  const hub = await createInProcessHub({ databaseUrl: testDatabase.url, logger, clock: systemClock });
  const bus = await connectBus({ url: undefined, hub, service: 'test', logger, clock: systemClock });
  const address = { url: testDatabase.url, schema: 'bus', applicationName: 'test', logger };
  await using database = await connect<BusSchema>(address);
  const { db } = database;
  const age = (interval: string) =>
    database.pool.query(`update message set stored_at = now() - $1::interval`, [interval]);
  const left = async () =>
    (await db.selectFrom('message').select('id').orderBy('seq').execute()).map(({ id }) => id);

  for (const number of [1, 2, 3]) await bus.publish(lapRun, { horse: 'a', number }, { id: `lap ${number}` });
  await bus.publish(raceCalled, { horse: 'a', number: 4 }, { id: 'nobody consumes' });
  await bus.consume(lapRun, {
    consumer: 'stable',
    handle: async ({ number }) => {
      if (number === 2) throw new Error('stumbled');
    },
    signal: new AbortController().signal,
  });
  const floor = async () => (await db.selectFrom('consumer').select('floor').executeTakeFirstOrThrow()).floor;
  await vi.waitFor(async () => expect(await floor()).toBe(2));

  // It prunes by itself.
  await bus.close();
  await hub[Symbol.asyncDispose]();
  expect(await pruneMessages(db)).toBe(0);
  await age('31 seconds');
  expect(await pruneMessages(db)).toBe(2);
  expect(await left()).toEqual(['lap 2', 'lap 3']);
  await age('8 days');
  await pruneMessages(db);
  expect(await left()).toEqual([]);

  await database.pool.query(
    `insert into message (subject, id, headers, body, stored_at)
     select 'many', n, '{}', '', now() - interval '8 days' from generate_series(1, 12000) n`,
  );
  const steps = [await pruneMessages(db), await pruneMessages(db), await pruneMessages(db)];
  expect(steps).toEqual([10_000, 2000, 0]);
});
