import { connect } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { sql } from 'kysely';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { Batch } from '../src/store/commit/batch.js';
import type { CommitBatch } from '../src/store/commit/commit-statement.js';
import type { RuntimeSchema } from '../src/store/tables/schema.js';
import { plantDeployment, prepareHouse } from './running-runtime.js';

const house = await prepareHouse();
const logger = createLogger({ service: 'test', level: 'error' });
const place = { url: house.databaseUrl, schema: 'runtime', applicationName: 'test', logger };
const { db } = house.resources.use('looking on', await connect<RuntimeSchema>(place));

/** What happens to the next commit that this takes; its answer is lost. */
let fault: ((batch: Batch, commit: () => Promise<unknown>) => Promise<unknown> | undefined) | undefined;
const aroundCommit =
  (commit: CommitBatch): CommitBatch =>
  async (batch) => {
    const happens = fault?.(batch, () => commit(batch));
    if (happens === undefined) return commit(batch);
    fault = undefined;
    await happens;
    throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  };
const runtime = await house.boot({ aroundCommit });
const { indexes } = runtime;

interface State {
  readonly state: string;
  readonly instances: number;
  readonly values: number;
  readonly wrong: number;
}

/** Each index of the deployment, and how many of its rows are not what the instances are. */
async function indexesOf(deploymentId: number): Promise<State[]> {
  const { rows } = await sql<State>`
    select x.state, count(i.instance_id)::int as instances, count(v.instance_id)::int as values, (count(*) filter (
      where i.instance_id is null or v.instance_id is null or (v.kind, v.number, v.text) is distinct from (
        case jsonb_typeof(i.value) when 'number' then 0 when 'string' then 1 when 'boolean' then 2 else 3 end,
        case jsonb_typeof(i.value) when 'number' then i.value::float8 when 'boolean' then i.value::boolean::int::float8 else 0 end,
        case jsonb_typeof(i.value) when 'string' then left(i.value #>> '{}', 256) else '' end)))::int as wrong
    from attribute_indexes x
    left join lateral (select instance_id, state -> x.attribute as value from instances
      where deployment_id = x.deployment_id and entity_schema = x.entity_schema) i on true
    full join indexed_values v on v.index_id = x.id and v.instance_id = i.instance_id
    where x.deployment_id = ${deploymentId} group by x.id, x.state order by x.id`.execute(db);
  return rows;
}

/** The ids of the instances that are planted in a deployment lie above this, below that of the next one. */
const firstId = (deploymentId: number) => 80_000_000 + deploymentId * 100_000;

/** Whether a commit brings instances into an index of this deployment: the others' indexes are built in the same rounds. */
const builds = ({ built }: Batch, deploymentId: number): boolean =>
  [...built.values()].some(
    ({ built_to: to }) => to > firstId(deploymentId) && to < firstId(deploymentId + 1),
  );

async function plantCounters(count: number) {
  const deployment = await plantDeployment(house);
  const { id } = deployment.deployment;
  await deployment.createCounter('C0', { count: 0 });
  await sql`
    insert into instances (id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at)
    select ${firstId(id)}::bigint + n, ${id}, 'counter', 'C' || n,
      jsonb_build_object('count', n % 7, 'label', 'a'), 1, now(), now() from generate_series(1, ${count - 1}) n`.execute(
    db,
  );
  const path = (instanceId: string) => ({ params: { ...deployment.params, instanceId } });
  return {
    ...deployment,
    id,
    put: (instanceId: string, state: object) =>
      house.call('instances.update', { ...path(instanceId), body: { state } }),
    remove: (instanceId: string) => house.call('instances.delete', path(instanceId)),
    increment: (instanceId: string) => deployment.execute({ id: instanceId }),
    ids: async (query: object) =>
      (
        await house.call('instances.list', {
          params: deployment.params,
          query: { entitySchema: 'counter', ...query },
        })
      ).data.map(({ instanceId }) => instanceId),
  };
}

function declare(...attributes: string[]) {
  house.catalog.indexAttributes('counter', attributes);
  onTestFinished(async () => {
    house.catalog.indexAttributes('counter', []);
    await indexes.runOnce();
  });
}

it('brings in what is there, and is kept by every kind of write', async () => {
  const { id, put, remove, increment, createCounter, ids, params } = await plantCounters(1200);
  declare('count', 'label');
  await indexes.runOnce();
  const whole = { state: 'complete', instances: 1200, values: 1200, wrong: 0 };
  expect(await indexesOf(id)).toEqual([whole, whole]);
  const before = await ids({ orderBy: 'count desc', limit: 5 });
  expect(before).toEqual(['C1000', 'C1007', 'C1014', 'C1021', 'C1028']);
  await increment('C1');
  await put('C2', { count: 9950, label: 'b' });
  await put('C3', { other: true });
  await remove('C4');
  await createCounter('new', { count: -1 });
  await increment('created by an event');
  await Promise.all(
    [remove('C5'), createCounter('C5', { count: 50 }), increment('C5')].map((one) => one.catch(() => 0)),
  );
  const mapping = { count: '{{ instance.count + 100 }}' };
  await house.call('instances.map', { params, body: { entitySchema: 'counter', mapping } });
  for (const index of await indexesOf(id)) expect(index).toMatchObject({ state: 'complete', wrong: 0 });
  expect((await ids({ orderBy: 'count desc', limit: 1 }))[0]).toBe('C2');
  expect((await ids({ orderBy: 'count', limit: 100, where: 'instance.count < 100' })).length).toBeGreaterThan(
    0,
  );
});

it('is exact when instances change, appear and go while it is built', async () => {
  const { id, increment, remove, createCounter, put } = await plantCounters(2300);
  declare('count');
  const writes = Array.from({ length: 300 }, (_, n) => {
    if (n % 4 === 0) return increment(`C${n * 7}`);
    if (n % 4 === 1) return remove(`C${n * 7}`);
    return n % 4 === 2 ? createCounter(`N${n}`, { count: n }) : put(`C${n * 7}`, { label: 'b' });
  });
  await Promise.all([...writes, indexes.runOnce()]);
  const [index] = await indexesOf(id);
  expect(index).toMatchObject({ state: 'complete', wrong: 0 });
  expect(index?.values).toBe(index?.instances);
});

it.each([
  ['written', true],
  ['not written', false],
])('goes on after the answer of a commit was lost that was %s', async (_what, isWritten) => {
  const { id, increment } = await plantCounters(1300);
  declare('count');
  let seen = 0;
  fault = (batch, commit) => {
    if (!builds(batch, id)) return undefined;
    seen += 1;
    return seen === 2 ? (isWritten ? commit() : Promise.resolve()) : undefined;
  };
  await Promise.all([indexes.runOnce(), increment('C3')]);
  expect(seen).toBe(2);
  expect(await indexesOf(id)).toEqual([{ state: 'complete', instances: 1300, values: 1300, wrong: 0 }]);
});

it('is continued by the next owner', async () => {
  const { id, increment } = await plantCounters(1800);
  declare('count');
  // The lease is taken from this process before the second part is committed.
  let seen = 0;
  fault = (batch) => {
    if (!builds(batch, id)) return undefined;
    seen += 1;
    if (seen !== 2) return undefined;
    return sql`update partitions set owner = null, expires_at = null where id = ${id % 64}`.execute(db);
  };
  await indexes.runOnce();
  expect(await indexesOf(id)).toMatchObject([{ state: 'building', values: 500 }]);
  await vi.waitFor(async () => {
    await runtime.leases.runOnce();
    await increment('C1700');
  });
  await indexes.runOnce();
  expect(await indexesOf(id)).toEqual([{ state: 'complete', instances: 1800, values: 1800, wrong: 0 }]);
});

it('is read by nobody once it is dropped, and deleted when no query can read it any more', async () => {
  const { id, ids, increment } = await plantCounters(30);
  declare('count');
  await indexes.runOnce();
  const order = await ids({ orderBy: 'count desc', limit: 10 });
  house.catalog.indexAttributes('counter', []);
  await indexes.runOnce();
  expect(await indexesOf(id)).toMatchObject([{ state: 'dropped', values: 30, wrong: 0 }]);
  await increment('C1');
  // No commit writes to it any more.
  expect(await indexesOf(id)).toMatchObject([{ state: 'dropped', wrong: 1 }]);
  expect(await ids({ orderBy: 'count desc', limit: 10 })).toEqual(order);
  await sql`update attribute_indexes set dropped_at = now() - interval '2 minutes' where deployment_id = ${id}`.execute(
    db,
  );
  await indexes.runOnce();
  expect(await indexesOf(id)).toEqual([]);
  const left = await sql<{ count: number }>`
    select count(*)::int as count from indexed_values v where not exists (select from attribute_indexes where id = v.index_id)`.execute(
    db,
  );
  expect(left.rows).toEqual([{ count: 0 }]);
});

it('comes with a clone, and goes with its deployment', async () => {
  const source = await plantCounters(20);
  declare('label');
  const clone = await plantDeployment(house, { bindings: [], sourceDeployment: source.deployment.address });
  await indexes.runOnce();
  const whole = { state: 'complete', instances: 20, values: 20, wrong: 0 };
  expect(await indexesOf(clone.deployment.id)).toEqual([whole]);
  await house.call('deployments.delete', { params: clone.params });
  await indexes.runOnce();
  expect(await indexesOf(clone.deployment.id)).toMatchObject([{ state: 'dropped' }]);
});

it('is begun only once no process of an earlier release is left', async () => {
  await sql`update journal_form set keeps_indexes = false`.execute(db);
  const second = await house.boot();
  const { id } = await plantCounters(10);
  declare('count');
  await second.indexes.runOnce();
  expect(second.context.journalForm.keepsIndexes).toBe(false);
  await sql`update journal_form set keeps_indexes = true`.execute(db);
  await vi.waitFor(() => expect(second.context.journalForm.keepsIndexes).toBe(true));
  await second[Symbol.asyncDispose]();
  await vi.waitFor(async () => {
    await runtime.leases.runOnce();
    await indexes.runOnce();
    expect(await indexesOf(id)).toMatchObject([{ state: 'complete', values: 10 }]);
  });
});
