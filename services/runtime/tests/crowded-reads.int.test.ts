import { connect } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { expect, it } from 'vitest';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const logger = createLogger({ service: 'test', level: 'error' });
const place = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
const database = house.resources.use('looking on', await connect<RuntimeSchema>(place));

it('renews leases and executes while more reads come than are answered, and refuses what may not wait', async () => {
  const { leases } = await house.boot();
  const planted = await plantDeployment(house);
  await planted.execute({ id: 'first' });
  const lock = await database.pool.connect();
  // Every read looks at this table, and no lease or commit does.
  await lock.query('begin; lock table deployments in access exclusive mode');
  const reads = Array.from({ length: 1000 }, () =>
    planted.history().then(
      () => 'answered',
      (error: { code: string }) => error.code,
    ),
  );
  const executed = planted.execute({ id: 'first' });
  expect(await Promise.race([...reads, executed])).toBe(await executed);
  await leases.runOnce();
  expect(await Promise.race(reads)).toBe('overloaded');
  expect((await planted.execute({ id: 'first' })).data).toMatchObject({
    stateChanges: { 'counter:first': { count: 3 } },
  });
  await lock.query('rollback');
  lock.release();
  const outcomes = await Promise.all(reads);
  expect(new Set(outcomes)).toEqual(new Set(['answered', 'overloaded']));
  expect(await planted.history()).toBeDefined();
});
