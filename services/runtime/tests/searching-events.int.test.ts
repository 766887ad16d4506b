import { connect } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { attribute } from './fake-catalog.js';
import { plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
const logger = createLogger({ service: 'test', level: 'error' });
const place = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
const { db } = house.resources.use('planting', await connect<RuntimeSchema>(place));
house.catalog.plantSchema('horse', [
  attribute('speed', 'integer', { defaultValue: 7 }),
  attribute('tired', 'boolean'),
]);
house.catalog.plantVersion({
  event: 'race',
  inputSchema: { least: 'integer' },
  readEntities: [
    {
      schema: 'horse',
      where: 'instance.speed >= input.least && !instance.tired',
      orderBy: 'speed desc',
      limit: 3,
    },
  ],
  stateChanges: { horse: 'partial' },
  mutationSettings: {
    mode: 'direct',
    template: {
      stateChanges: { 'horse:{{entities.horse.map(h, h)[0]}}': { tired: true } },
      result: { order: '{{entities.horse.map(h, h)}}' },
    },
  },
});
house.catalog.plantSchema('crowd', [attribute('note', 'string')]);
house.catalog.plantSchema('choir', [attribute('note', 'string')]);
const longest = (schema: string) => ({ schema, where: "id == '1'", limit: 1 });
const LARGE = { 'one schema': ['crowd'], 'two schemas': ['crowd', 'choir'] };
for (const [event, schemas] of Object.entries(LARGE))
  house.catalog.plantVersion({
    event,
    readEntities: schemas.map(longest),
    stateChanges: {},
    mutationSettings: { mode: 'direct', template: { result: { read: 'yes' } } },
  });
await house.boot();

async function plant(count: number) {
  const deployment = await plantDeployment(house, { bindings: [{ event: 'race', eventVersion: 1 }] });
  await sql`
    insert into instances (id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at)
    select 60000000 + ${deployment.deployment.id}::bigint * 100000 + n, ${deployment.deployment.id}, 'horse', 'H' || n,
      jsonb_build_object('speed', n), 1, now(), now() from generate_series(1, ${count}) n`.execute(db);
  const race = async (least: number) => {
    const { data } = await deployment.execute({ least }, {}, 'race');
    return (data as unknown as { result: { order: string[] } }).result.order;
  };
  return { ...deployment, race };
}

it('an event reads the first of those that it searches for, in the state that the execution before left', async () => {
  const { race, params } = await plant(2000);
  expect(await race(100)).toEqual(['H2000', 'H1999', 'H1998']);
  expect(await race(100)).toEqual(['H1999', 'H1998', 'H1997']);
  await house.call('instances.create', {
    params,
    body: { entitySchema: 'horse', instanceId: 'NEW', state: { speed: 5000 } },
  });
  await house.call('instances.delete', {
    params: { ...params, instanceId: 'H1997' },
    query: { entitySchema: 'horse' },
  });
  expect(await Promise.all([race(100), race(100)])).toEqual([
    ['NEW', 'H1998', 'H1996'],
    ['H1998', 'H1996', 'H1995'],
  ]);
});

it('a search of more than 10,000 instances fails, and says what to do', async () => {
  const { race, history } = await plant(10_001);
  const refusal = await refusalOf(race(1));
  expect(refusal.code).toBe('read_set_too_large');
  expect(refusal.message).toContain('"filter"');
  expect((await history())[0]).toMatchObject({ status: 'failed', error: { code: 'read_set_too_large' } });
});

it('what an event searches has a bounded number of bytes together, whichever schemas it is in', async () => {
  const bindings = Object.keys(LARGE).map((event) => ({ event, eventVersion: 1 }));
  const { deployment, execute, history } = await plantDeployment(house, { bindings });
  for (const [index, schema] of LARGE['two schemas'].entries())
    await sql`
      insert into instances (id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at)
      select 90000000 + ${index} * 10000 + n, ${deployment.id}, ${schema}, n::text,
        jsonb_build_object('note', repeat('x', 60000)), 1, now(), now() from generate_series(1, 600) n`.execute(
      db,
    );
  expect(await execute({}, {}, 'one schema')).toBeDefined();
  const refusal = await refusalOf(execute({}, {}, 'two schemas'));
  expect(refusal).toMatchObject({ code: 'read_set_too_large', facts: { maxBytes: 64 * 1024 * 1024 } });
  expect((await history())[0]).toMatchObject({ status: 'failed', error: { code: 'read_set_too_large' } });
  expect(await execute({}, {}, 'one schema')).toBeDefined();
});
