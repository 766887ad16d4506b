import { expect, it } from 'vitest';
import { prepareHouse, refusalOf } from './running-scheduler.js';

const { boot, call } = await prepareHouse();
await boot();

it('a preview says the next due times by the clock of the database, and the schedule in words', async () => {
  const body = { schedule: '30 9 * * MON-FRI', timezone: 'Europe/Vienna', count: 2 };
  const { data } = await call('cron.preview', { body });
  expect(data).toEqual({
    schedule: '30 9 * * MON-FRI',
    timezone: 'Europe/Vienna',
    description: 'At 09:30, Monday through Friday',
    times: ['2030-06-03T07:30:00.000Z', '2030-06-04T07:30:00.000Z'],
  });
});

it('a preview without a time zone is in UTC and has five times', async () => {
  const { data } = await call('cron.preview', { body: { schedule: '0 0 29 2 *' } });
  expect(data.timezone).toBe('UTC');
  expect(data.times).toHaveLength(5);
  expect(data.times[0]).toBe('2032-02-29T00:00:00.000Z');
});

it.each([
  [{ schedule: '61 * * * *' }, '/schedule'],
  [{ schedule: '0 0 30 2 *' }, '/schedule'],
  [{ schedule: '0 0 * * *', timezone: 'Mars/Phobos' }, '/timezone'],
])('a preview of %j is refused', async (body, pointer) => {
  const refusal = await refusalOf(call('cron.preview', { body }));
  expect(refusal).toMatchObject({ code: 'invalid_cron_schedule', errors: [{ pointer }] });
});
