import { expect, it } from 'vitest';
import { prepareHouse } from './running-scheduler.js';

const { boot, clock, fake, hint, until, schedulers } = await prepareHouse();
const stored = async (address: string) =>
  schedulers[0]?.db.selectFrom('schedules').select('schedule').where('deployment', '=', address).execute();
const passed = async () => schedulers[0]?.db.selectFrom('progress').selectAll().execute();

it('a deployment of a restored database is found by the first comparison of a process', async () => {
  await boot();
  const version = (schedule: string) => fake.version('train', 1, { schedule });
  const address = fake.deploy({ train: version('* * * * *') });
  await hint(address);
  await until(async () => expect(await passed()).toHaveLength(1));
  fake.bind(address, 'train', version('0 * * * *'));
  fake.age(address);
  const other = fake.deploy({ train: version('5 * * * *') });
  await until(async () => {
    await clock.advance(20_000);
    expect(await stored(other)).toEqual([{ schedule: '5 * * * *' }]);
  });
  expect(await stored(address)).toEqual([{ schedule: '* * * * *' }]);
  await boot();
  await until(async () => expect(await stored(address)).toEqual([{ schedule: '0 * * * *' }]));
});
