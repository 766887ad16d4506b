import { connect } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const logger = createLogger({ service: 'test', level: 'error' });
const place = {
  ...{ url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger },
  // Its lock lasts for as long as a busy machine needs.
  idleInTransactionTimeoutMs: 0,
};
const database = house.resources.use('looking on', await connect<RuntimeSchema>(place));

it('renews leases and executes while more reads come than are answered, and refuses what may not wait', async () => {
  // A lease that was lost meanwhile would have to be read again, and wait for the lock.
  const { leases } = await house.boot({ leaseTtlMs: 600_000 });
  const planted = await plantDeployment(house);
  await planted.execute({ id: 'first' });
  const lock = await database.pool.connect();
  // Every read looks at this table, and no lease or commit does.
  await lock.query('begin; lock table deployments in access exclusive mode');
  const outcomes: string[] = [];
  const reads = Array.from({ length: 1000 }, () =>
    planted.history().then(
      () => outcomes.push('answered'),
      (error: { code: string }) => outcomes.push(error.code),
    ),
  );
  await planted.execute({ id: 'first' });
  await leases.runOnce();
  await vi.waitFor(() => expect(outcomes).toContain('overloaded'));
  expect(outcomes).not.toContain('answered');
  expect((await planted.execute({ id: 'first' })).data).toMatchObject({
    stateChanges: { 'counter:first': { count: 3 } },
  });
  await lock.query('rollback');
  lock.release();
  await Promise.all(reads);
  // A statement waits for a lock no longer than a busy machine may take.
  expect(['answered', 'overloaded', 'deadline_exceeded']).toEqual(
    expect.arrayContaining([...new Set(outcomes)]),
  );
  expect(await planted.history()).toBeDefined();
});
