import { connect } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { expect, test } from 'vitest';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
await house.boot();
const logger = createLogger({ service: 'test', level: 'error' });
const options = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
const database = house.resources.use('observer', await connect<RuntimeSchema>(options));

test('every hundredth revision of an instance is kept, and its deletion', async () => {
  const { deployment, params, execute, verify } = await plantDeployment(house);
  for (let round = 0; round < 21; round += 1)
    await Promise.all(Array.from({ length: 10 }, () => execute({ id: 'a' })));
  await house.call('instances.delete', { params: { ...params, instanceId: 'a' } });
  const { rows } = await database.pool.query(
    `select seq, instance_id, revision, state from runtime.kept_states where deployment_id = $1 order by seq`,
    [deployment.id],
  );
  // The deployment's first entry is 1; revision n of the instance is entry n + 1, and its deletion the 212th.
  expect(rows).toEqual([
    { seq: 101, instance_id: 'a', revision: 100, state: { count: 100 } },
    { seq: 201, instance_id: 'a', revision: 200, state: { count: 200 } },
    { seq: 212, instance_id: 'a', revision: 211, state: null },
  ]);
  expect(await verify()).toMatchObject({ valid: true, entries: 212 });
});
