import { connect } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { attribute } from './fake-catalog.js';
import { codeOf, OTHER, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house = await prepareHouse();
const logger = createLogger({ service: 'test', level: 'error' });
const place = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
const { db } = house.resources.use('planting', await connect<RuntimeSchema>(place));
const before = [attribute('wins', 'integer', { constraints: { required: true } })];
const after = [attribute('victories', 'integer', { constraints: { required: true } })];
house.catalog.plantSchema('horse', before);
await house.boot();

async function plant(count: number) {
  house.catalog.plantSchema('horse', before);
  const deployment = await plantDeployment(house);
  const { params } = deployment;
  const horse = { entitySchema: 'horse', instanceId: 'H0', state: { wins: 0 } };
  await house.call('instances.create', { params, body: horse });
  await sql`
    insert into instances (id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at)
    select 70000000 + ${deployment.deployment.id}::bigint * 100000 + n, ${deployment.deployment.id}, 'horse', 'H' || n,
      jsonb_build_object('wins', n), 1, now(), now() from generate_series(1, ${count - 1}) n`.execute(db);
  const body = { entitySchema: 'horse' };
  const check = (more: object = {}) => house.call('instances.check', { params, body: { ...body, ...more } });
  const map = (more: object) => house.call('instances.map', { params, body: { ...body, ...more } });
  const horseNamed = async (instanceId: string) =>
    (await house.call('instances.get', { params: { ...params, instanceId } })).data;
  return { ...deployment, check, map, horseNamed };
}

const rename = { victories: '{{ instance.wins }}', wins: null };

it('counts what a schema would not accept before it is changed, and tries a mapping', async () => {
  const { check, history } = await plant(3);
  expect((await check()).data).toEqual({ lookedAt: 3, unfit: 0, mappable: 0, misfits: [], next: null });
  const { data } = await check({ attributes: after });
  expect(data).toMatchObject({ lookedAt: 3, unfit: 3, mappable: 0, next: null });
  expect(data.misfits).toHaveLength(3);
  expect(data.misfits[0]).toMatchObject({
    instanceId: 'H0',
    revision: 1,
    problems: [{ pointer: '/victories', code: 'required' }],
  });
  const tried = (await check({ attributes: after, mapping: rename })).data;
  expect(tried).toEqual({ lookedAt: 3, unfit: 3, mappable: 3, misfits: [], next: null });
  expect(await history({ include: 'all' })).toHaveLength(2);
});

it('maps in batches as ordinary writes, goes on where it stopped, and changes nothing when it is repeated', async () => {
  const { check, map, horseNamed, history, deployment } = await plant(250);
  house.catalog.plantSchema('horse', after);
  const first = (await map({ mapping: rename })).data;
  expect(first).toMatchObject({ lookedAt: 100, unfit: 100, mapped: 100, misfits: [] });
  // Its answer was lost: it is asked for again.
  expect((await map({ mapping: rename })).data).toMatchObject({ mapped: 100 });
  const rest = (await map({ mapping: rename, cursor: first.next ?? undefined })).data;
  expect(rest).toMatchObject({ mapped: 50, next: null });
  expect((await map({ mapping: rename })).data).toMatchObject({ lookedAt: 250, unfit: 0, mapped: 0 });
  expect((await check()).data).toMatchObject({ lookedAt: 250, unfit: 0 });
  expect(await horseNamed('H249')).toMatchObject({ state: { victories: 249 }, revision: 2 });
  const [newest] = await history({ include: 'all', limit: '1' });
  expect(newest).toMatchObject({ kind: 'instance_updated', seq: 252, caller: 'account:1' });
  // Instances that the test has written behind the journal's back cannot be folded, the one that it created can.
  expect(deployment.id).toBeGreaterThan(0);
});

it('writes defaults to instances that were there before them, so that queries find them', async () => {
  const { check, map, params } = await plant(3);
  const [wins] = before;
  house.catalog.plantSchema('horse', [
    ...(wins ? [wins] : []),
    attribute('level', 'integer', { defaultValue: 0 }),
  ]);
  const young = { entitySchema: 'horse', instanceId: 'YOUNG', state: { wins: 0, level: 5 } };
  await house.call('instances.create', { params, body: young });
  const found = async (where: string) => {
    const query = { entitySchema: 'horse', where };
    return (await house.call('instances.list', { params, query })).data.map(({ instanceId }) => instanceId);
  };
  expect(await found('instance.level == 0')).toEqual([]);
  expect((await map({ mapping: {} })).data).toMatchObject({ lookedAt: 4, unfit: 0, mapped: 0 });
  const filling = { mapping: {}, fillDefaults: true };
  expect((await check(filling)).data).toMatchObject({ lookedAt: 4, unfit: 3, mappable: 3 });
  expect((await map(filling)).data).toMatchObject({ lookedAt: 4, unfit: 3, mapped: 3, misfits: [] });
  expect((await map(filling)).data).toMatchObject({ lookedAt: 4, unfit: 0, mapped: 0 });
  expect(await found('instance.level == 0')).toEqual(['H0', 'H1', 'H2']);
  expect(await found('!has(instance.level)')).toEqual([]);
});

it('looks at no more than 2,000 in one request', async () => {
  const { check } = await plant(2100);
  const first = (await check()).data;
  expect(first).toMatchObject({ lookedAt: 2000 });
  expect((await check({ cursor: first.next ?? undefined })).data).toMatchObject({
    lookedAt: 100,
    next: null,
  });
});

it('looks at no more than 16 MiB in one request', async () => {
  const { check, deployment } = await plant(300);
  await sql`
    update instances set state = state || jsonb_build_object('text', repeat('x', 65000))
    where deployment_id = ${deployment.id}`.execute(db);
  const first = (await check()).data;
  expect(first).toMatchObject({ lookedAt: 258 });
  expect((await check({ cursor: first.next ?? undefined })).data).toMatchObject({ lookedAt: 42, next: null });
});

it('ends a request that takes long where it stands, and the next one goes on from there', async () => {
  const { check } = await plant(2000);
  const list = JSON.stringify(Array.from({ length: 28 }, (_, n) => n));
  const heavy = `${list}.exists(a, ${list}.exists(b, ${list}.exists(c, a * b * c < 0)))`;
  const asked = { attributes: after, mapping: { wins: null, victories: `{{ ${heavy} ? 1 : 2 }}` } };
  const first = (await check(asked)).data;
  expect(first.lookedAt).toBeLessThan(2000);
  expect(first).toMatchObject({ unfit: first.lookedAt, mappable: first.lookedAt, next: expect.any(String) });
  const rest = (await check({ cursor: first.next ?? undefined })).data;
  expect(first.lookedAt + rest.lookedAt).toBe(2000);
});

it('leaves what the mapping makes too large', async () => {
  const { map, check, deployment } = await plant(2);
  await sql`
    update instances set state = state || jsonb_build_object('text', repeat('x', 65515))
    where deployment_id = ${deployment.id} and instance_id = 'H1'`.execute(db);
  house.catalog.plantSchema('horse', after);
  const misfits = [{ instanceId: 'H1', problems: [{ pointer: '', code: 'too_large' }] }];
  expect((await check({ mapping: rename })).data).toMatchObject({ unfit: 2, mappable: 1, misfits });
  expect((await map({ mapping: rename })).data).toMatchObject({ unfit: 2, mapped: 1, misfits, next: null });
});

it('leaves what the mapping does not make fit, and says why', async () => {
  const { map, horseNamed } = await plant(2);
  house.catalog.plantSchema('horse', [
    attribute('victories', 'integer', { constraints: { required: true, min: 1 } }),
  ]);
  const { data } = await map({ mapping: rename });
  expect(data).toMatchObject({ unfit: 2, mapped: 1 });
  expect(data.misfits).toMatchObject([{ instanceId: 'H0', problems: [{ code: 'out_of_range' }] }]);
  expect(await horseNamed('H0')).toMatchObject({ state: { wins: 0 }, revision: 1 });
});

it('is refused where the deployment is locked, to others, and with pointers where it cannot be read', async () => {
  const { map, check, params } = await plant(1);
  house.catalog.plantSchema('horse', after);
  const wrong = await refusalOf(map({ mapping: { victories: '{{ input.n }}' } }));
  expect(wrong).toMatchObject({ code: 'invalid_template', errors: [{ pointer: '/mapping/victories' }] });
  expect(await codeOf(map({ entitySchema: 'none', mapping: rename }))).toBe('unknown_entity_schema');
  const body = { entitySchema: 'horse', mapping: rename };
  for (const name of ['instances.check', 'instances.map'] as const)
    expect(await codeOf(house.call(name, { params, body }, { accountId: OTHER }))).toBe(
      'deployment_not_found',
    );
  await house.call('deployments.lock', { params });
  expect(await codeOf(map({ mapping: rename }))).toBe('deployment_locked');
  expect((await check({ mapping: rename })).data).toMatchObject({ unfit: 1, mappable: 1 });
});
