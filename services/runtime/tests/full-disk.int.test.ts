import { fillDisk } from '@orrery/testing/servers';
import { expect, it } from 'vitest';
import { plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();

it('refuses changes while the disk of the database is full, answers reads, and goes on with nothing lost', async () => {
  let commits = 0;
  await house.boot({
    aroundCommit: (commit) => (batch) => {
      commits += 1;
      return commit(batch);
    },
  });
  const planted = await plantDeployment(house);
  await planted.execute({ id: 'x' });
  commits = 0;
  const disk = await fillDisk(house.databaseUrl, 'runtime.journal');
  const keyed = { headers: { 'idempotency-key': 'k' } };
  const refusal = await refusalOf(planted.execute({ id: 'x' }, keyed));
  expect(refusal).toMatchObject({ code: 'storage_full', facts: { retryAfterSeconds: 5 }, retryable: true });
  expect(commits).toBe(1);
  expect(await planted.counter('x')).toMatchObject({ state: { count: 1 } });
  await disk.release();
  await planted.execute({ id: 'x' }, keyed);
  expect(await planted.counter('x')).toMatchObject({ state: { count: 2 } });
  expect(await planted.verify()).toMatchObject({ valid: true, entries: 3 });
});
