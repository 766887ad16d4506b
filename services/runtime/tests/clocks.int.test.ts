import { connect } from '@orrery/database';
import { createLogger, systemClock } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const logger = createLogger({ service: 'test', level: 'error' });
const database = house.resources.use(
  'looking on',
  await connect({ url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger }),
);
const SKEW_MS = 300_000;
/** The clock of a process that is wrong. */
const wrongBy = (ms: number) => ({ ...systemClock, now: () => systemClock.now() + ms });
const databaseNow = async () => {
  const { rows } = await database.pool.query<{ now: Date }>('select clock_timestamp() as now');
  return rows[0]?.now.getTime() ?? 0;
};

it('journals have the times of the database and never run backwards, whoever writes them', async () => {
  const from = await databaseNow();
  const first = await house.boot({ clock: wrongBy(SKEW_MS) });
  const planted = await Promise.all(Array.from({ length: 4 }, () => plantDeployment(house)));
  const executeAll = () => Promise.all(planted.map(({ execute }) => execute({ id: 'a' })));
  await executeAll();
  const second = await house.boot({ clock: wrongBy(-SKEW_MS) });
  await vi.waitFor(async () => {
    for (const { leases } of [first, second]) await leases.runOnce();
    const { rows } = await database.pool.query(
      'select count(distinct owner)::int as n from runtime.partitions',
    );
    expect(rows[0]).toEqual({ n: 2 });
  });
  await executeAll();
  await first[Symbol.asyncDispose]();
  await executeAll();
  const until = await databaseNow();
  for (const { history } of planted) {
    const times = (await history({ include: 'all' }))
      .map(({ executedAt }) => Date.parse(executedAt))
      .reverse();
    expect(times).toHaveLength(4);
    expect(times).toEqual([...times].sort((a, b) => a - b));
    expect(times[0]).toBeGreaterThanOrEqual(from);
    expect((times.at(-1) ?? 0) - until).toBeLessThan(SKEW_MS / 2);
  }
});
