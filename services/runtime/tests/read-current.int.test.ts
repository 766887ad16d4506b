import { connect } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import { CURRENT_INSTANCES } from '../src/store/deployments/instance-store.js';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { attribute } from './fake-catalog.js';
import { codeOf, OTHER, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
const logger = createLogger({ service: 'test', level: 'error' });
const place = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
const database = house.resources.use('looking on', await connect<RuntimeSchema>(place));
for (const name of ['gauge', 'gauge of fuel'])
  house.catalog.plantSchema(name, [attribute('count', 'integer', { defaultValue: 0 })]);
const runtime = await house.boot();

it('reads many instances with one statement, each as it is committed and visible', async () => {
  const [first, second] = [await plantDeployment(house), await plantDeployment(house)];
  for (let n = 0; n < 20; n += 1) await first.createCounter(`i${n}`, { count: n });
  await second.createCounter('i1', { count: 100 });
  await first.counter('i0'); // the path is known from here on
  await second.counter('i1');
  const read = vi.spyOn(runtime.context.pools.reads.pool, 'connect');
  const get = (params: object, instanceId: string) =>
    house.call('instances.get', { params: { ...params, instanceId } });
  const found = await Promise.all([
    ...Array.from({ length: 20 }, (_, n) => get(first.params, `i${n}`)),
    get(second.params, 'i1'),
  ]);
  expect(found.map(({ data }) => data.state['count'])).toEqual([
    ...Array.from({ length: 20 }, (_, n) => n),
    100,
  ]);
  expect(read.mock.calls.length).toBeLessThanOrEqual(2);
  const refused = [
    codeOf(get(first.params, 'absent')),
    codeOf(get({ ...second.params, address: first.params.address, worldAddress: '999' }, 'i1')),
    codeOf(
      house.call('instances.get', { params: { ...first.params, instanceId: 'i1' } }, { accountId: OTHER }),
    ),
  ];
  expect(await Promise.all(refused)).toEqual([
    'entity_instance_not_found',
    'deployment_not_found',
    'deployment_not_found',
  ]);
});

it('keeps instances apart whose names are alike when they are put together', async () => {
  const { params } = await plantDeployment(house);
  const pairs = [
    { entitySchema: 'gauge', instanceId: 'of fuel 1' },
    { entitySchema: 'gauge of fuel', instanceId: '1' },
  ];
  for (const body of pairs) await house.call('instances.create', { params, body: { ...body, state: {} } });
  const found = await Promise.all(
    pairs.map(({ entitySchema, instanceId }) =>
      house.call('instances.get', { params: { ...params, instanceId }, query: { entitySchema } }),
    ),
  );
  expect(found.map(({ data }) => data)).toMatchObject(pairs);
});

it('tells the schemas of a key that several have, and reads the one that is named', async () => {
  const { params, createCounter } = await plantDeployment(house);
  await createCounter('same', { count: 1 });
  await house.call('instances.create', {
    params,
    body: { entitySchema: 'gauge', instanceId: 'same', state: { count: 2 } },
  });
  const get = (query: object) =>
    house.call('instances.get', { params: { ...params, instanceId: 'same' }, query: { ...query } });
  expect(await refusalOf(get({}))).toMatchObject({
    code: 'ambiguous_instance',
    facts: { entitySchemas: ['counter', 'gauge'] },
  });
  expect((await get({ entitySchema: 'gauge' })).data.state).toEqual({ count: 2 });
});

it('looks each instance up by key, whatever the tables held when the plan was made', async () => {
  const { params } = await plantDeployment(house);
  await house.call('instances.create', {
    params,
    body: { entitySchema: 'counter', instanceId: 'one', state: {} },
  });
  const { pool } = runtime.context.pools.reads;
  const planOf = async () => {
    const client = await pool.connect();
    try {
      await client.query('begin; set local plan_cache_mode = force_generic_plan');
      await client.query(`prepare looked as ${CURRENT_INSTANCES}`);
      const { rows } = await client.query(`explain execute looked ('{1}', '{one}', '{null}')`);
      return rows.map((row) => row['QUERY PLAN']).join('\n');
    } finally {
      await client.query('rollback; deallocate all');
      client.release(true);
    }
  };
  for (const analyze of ['', 'analyze deployments, instances']) {
    await database.pool.query(analyze);
    const plan = await planOf();
    expect(plan).not.toContain('Seq Scan');
    expect(plan).toContain('instances_by_key');
  }
});
