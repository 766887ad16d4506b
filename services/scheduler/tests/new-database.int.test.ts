import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { inShort, MINUTE, prepareHouse } from './running-scheduler.js';

const { boot, call, fake, hint, ledgerOf, moveTo, now, paramsOf, schedulers } = await prepareHouse();

it('a scheduler whose database is a new one repeats nothing, and runs on request what it ran before', async () => {
  const first = await boot();
  const address = fake.deploy({ train: fake.version('train', 1, { schedule: '0 * * * *' }) });
  await hint(address);
  const run = async () =>
    (await call('schedules.run', { params: paramsOf(address, 'train'), headers: {} })).data;
  expect((await run()).outcome).toBe('succeeded');
  await moveTo(now() + 60 * MINUTE);
  await moveTo(now() + 11 * MINUTE);
  expect(fake.acknowledged).toHaveLength(2);
  await first.db.executeQuery(
    sql`truncate deployments, pending_syncs, schedules, occurrences, progress restart identity`.compile(
      first.db,
    ),
  );
  schedulers.splice(0);
  await first[Symbol.asyncDispose]();
  await boot();
  await hint(address);
  expect((await ledgerOf(address, 'train')).map(inShort)).toEqual(['13:00 skipped decided_before']);
  expect((await run()).outcome).toBe('succeeded');
});
