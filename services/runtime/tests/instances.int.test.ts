import { describe, expect, it } from 'vitest';
import { attribute } from './fake-catalog.js';
import { codeOf, type House, OTHER, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house: House = await prepareHouse();
let beforeCommit = async () => {};
const boot = () =>
  house.boot({
    aroundCommit: (commit) => async (batch) => {
      await beforeCommit();
      return commit(batch);
    },
  });
const first = await boot();

/** Commits wait until they are let go; `reached` resolves with the first. */
function holdCommits() {
  let letGo = () => {};
  const free = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    beforeCommit = async () => {
      resolve();
      await free;
    };
  });
  return { reached, letGo };
}

const { call, ask, catalog } = house;
catalog.plantSchema('horse', [attribute('name', 'string', { constraints: { required: true } })]);

describe('instances', () => {
  it('are created with defaults, once, of schemas that exist', async () => {
    const { createCounter, params, verify } = await plantDeployment(house);
    const { data, etag } = await createCounter('a:b', { label: 'a', more: [1] });
    expect(data).toMatchObject({ state: { count: 0, label: 'a', more: [1] }, revision: 1 });
    expect(etag).toBe('1');
    expect(await codeOf(createCounter('a:b'))).toBe('entity_instance_exists');
    expect(await refusalOf(createCounter('c', { label: 'z' }))).toMatchObject({
      code: 'invalid_state',
      errors: [{ pointer: '/state/label' }],
    });
    const unknown = { entitySchema: 'none', instanceId: 'x' };
    expect(await codeOf(call('instances.create', { params, body: unknown }))).toBe('unknown_entity_schema');
    expect(await verify()).toMatchObject({ valid: true, entries: 2 });
  });

  it('say which attribute is likely misspelt, and keep it', async () => {
    const { createCounter, params } = await plantDeployment(house);
    const message = 'The entity schema "counter" has no attribute "cuont". Did you mean "count"?';
    const suggestion = 'Write "count".';
    const warnings = [{ pointer: '/state/cuont', code: 'unknown_attribute', message, suggestion }];
    const created = await createCounter('c', { cuont: 5, other: 1 });
    expect(created).toMatchObject({ warnings, data: { state: { cuont: 5, other: 1 } } });
    const update = (state: object) =>
      call('instances.update', { params: { ...params, instanceId: 'c' }, body: { state } });
    expect(await update({ cuont: 6 })).toMatchObject({ warnings, data: { state: { cuont: 6 } } });
    expect(await update({ count: 6, other: 1 })).not.toHaveProperty('warnings');
  });

  it('are replaced as sent, if they still have the revision', async () => {
    const { createCounter, params } = await plantDeployment(house);
    await createCounter('c', { count: 5, label: 'a' });
    const update = (state: object, ifMatch?: string) =>
      call('instances.update', {
        params: { ...params, instanceId: 'c' },
        body: { state },
        headers: ifMatch === undefined ? {} : { 'if-match': ifMatch },
      });
    expect((await update({ label: 'b' })).data).toMatchObject({ state: { label: 'b' }, revision: 2 });
    expect(await codeOf(update({}, '"1"'))).toBe('revision_mismatch');
    expect((await update({}, '"2"')).data).toMatchObject({ state: {}, revision: 3 });
    const outcomes = await Promise.allSettled([update({ count: 1 }, '"3"'), update({ count: 2 }, '"3"')]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });

  it('are deleted if they still have the revision', async () => {
    const { createCounter, params } = await plantDeployment(house);
    await createCounter('c');
    const remove = (ifMatch: string) =>
      call('instances.delete', {
        params: { ...params, instanceId: 'c' },
        headers: { 'if-match': ifMatch },
      });
    expect(await refusalOf(remove('"2"'))).toMatchObject({
      code: 'revision_mismatch',
      facts: { revision: 1 },
    });
    expect((await remove('"1"')).data).toEqual({ deleted: true });
  });

  it('ask which schema is meant when several have the key', async () => {
    const { createCounter, params } = await plantDeployment(house);
    await createCounter('x');
    await call('instances.create', {
      params,
      body: { entitySchema: 'horse', instanceId: 'x', state: { name: 'X' } },
    });
    const one = { params: { ...params, instanceId: 'x' } };
    expect(await refusalOf(call('instances.get', one))).toMatchObject({
      code: 'ambiguous_instance',
      facts: { entitySchemas: ['counter', 'horse'] },
    });
    expect(await codeOf(call('instances.delete', one))).toBe('ambiguous_instance');
    const query = { entitySchema: 'horse' };
    expect((await call('instances.get', { ...one, query })).data.state).toEqual({ name: 'X' });
    await call('instances.delete', { ...one, query });
    expect((await call('instances.get', one)).data.entitySchema).toBe('counter');
  });

  it('are listed in order of creation, by schema, with totals', async () => {
    const { createCounter, params } = await plantDeployment(house);
    for (const id of ['c', 'a', 'b']) await createCounter(id);
    const list = (query: Record<string, string>) => call('instances.list', { params, query });
    const first = await list({ limit: '2' });
    expect(first.data.map(({ instanceId }) => instanceId)).toEqual(['c', 'a']);
    expect(first.pagination).toEqual({ page: 1, limit: 2, total: 3, totalPages: 2 });
    expect((await list({ entitySchema: 'horse' })).pagination.total).toBe(0);
    expect((await list({ entitySchema: 'counter', page: '2', limit: '2' })).data).toHaveLength(1);
  });

  it('can be deleted and made again, and read as they were', async () => {
    const { createCounter, params, execute, verify, deployment } = await plantDeployment(house);
    await createCounter('c', { label: 'a' });
    await execute({ id: 'c' });
    const one = { params: { ...params, instanceId: 'c' } };
    await call('instances.delete', one);
    expect(await codeOf(call('instances.get', one))).toBe('entity_instance_not_found');
    expect(await codeOf(call('instances.delete', one))).toBe('entity_instance_not_found');
    expect(catalog.claims.has(`${deployment.address} schema 1`)).toBe(false);
    const gone = await call('instances.get', { ...one, query: { atSeq: 3 } });
    expect(gone.data).toMatchObject({ id: 0, state: { count: 1, label: 'a' } });
    expect((await createCounter('c')).data).toMatchObject({ state: { count: 0 }, revision: 1 });
    expect(catalog.claims.has(`${deployment.address} schema 1`)).toBe(true);
    const at = async (atSeq: number) =>
      (await call('instances.get', { ...one, query: { atSeq } })).data.state;
    expect(await at(2)).toEqual({ count: 0, label: 'a' });
    expect(await at(3)).toEqual({ count: 1, label: 'a' });
    expect(await codeOf(at(4))).toBe('entity_instance_not_found');
    expect(await at(5)).toEqual({ count: 0 });
    expect(await verify()).toMatchObject({ valid: true, entries: 5 });
  });
});

describe('a list as it was', () => {
  const listOf = (params: object) => async (query: Record<string, unknown>) =>
    call('instances.list', { params: { ...params }, query });

  it('is at the end of the journal the list as it is', async () => {
    const { createCounter, params, execute } = await plantDeployment(house);
    for (const id of ['c', 'a', 'b']) await createCounter(id);
    await execute({ id: 'a' });
    await call('instances.delete', { params: { ...params, instanceId: 'c' } });
    await createCounter('c');
    const list = listOf(params);
    expect(await list({ atSeq: 7 })).toEqual(await list({}));
    expect(await list({ atSeq: 7, limit: '2', page: '2' })).toEqual(await list({ limit: '2', page: '2' }));
  });

  it('has the states, the order and the total of then, of all schemas or of one', async () => {
    const { createCounter, params, execute } = await plantDeployment(house);
    await createCounter('c');
    const horse = { entitySchema: 'horse', instanceId: 'h', state: { name: 'H' } };
    await call('instances.create', { params, body: horse });
    await createCounter('a');
    await execute({ id: 'c' });
    await call('instances.delete', { params: { ...params, instanceId: 'c' } });
    const list = listOf(params);
    const at = async (query: Record<string, unknown>) => {
      const { data, pagination } = await list(query);
      return [data.map(({ instanceId, state }) => [instanceId, state['count'] ?? null]), pagination.total];
    };
    expect(await at({ atSeq: 1 })).toEqual([[], 0]);
    expect(await at({ atSeq: '3' })).toEqual([
      [
        ['c', 0],
        ['h', null],
      ],
      2,
    ]);
    expect(await at({ atSeq: 5, entitySchema: 'counter' })).toEqual([
      [
        ['c', 1],
        ['a', 0],
      ],
      2,
    ]);
    expect(await at({ atSeq: 6, entitySchema: 'counter' })).toEqual([[['a', 0]], 1]);
    expect(await at({ atSeq: 6, limit: 1, page: 2 })).toEqual([[['a', 0]], 2]);
  });

  it('is refused before the first entry, after the last, to others and too deep', async () => {
    const { params } = await plantDeployment(house);
    const list = listOf(params);
    expect(await codeOf(list({ atSeq: 0 }))).toBe('validation_failed');
    expect(await refusalOf(list({ atSeq: 2 }))).toMatchObject({
      code: 'entity_instance_not_found',
      message: 'The journal ends at 1.',
    });
    expect(await codeOf(list({ atSeq: 1, limit: 100, page: 1001 }))).toBe('page_too_deep');
    const stranger = call('instances.list', { params, query: { atSeq: 1 } }, { accountId: OTHER });
    expect(await codeOf(stranger)).toBe('deployment_not_found');
  });
});

describe('a schema whose last instance an execution deletes', () => {
  catalog.plantVersion({
    event: 'retire',
    versionId: 80,
    inputSchema: { id: 'string' },
    mutationSettings: { mode: 'direct', template: { 'horse:{{input.id}}': { $delete: true } } },
  });
  const plantStable = async (horses: string[]) => {
    const stable = await plantDeployment(house, { bindings: [{ event: 'retire', eventVersion: 1 }] });
    const { address } = stable.deployment;
    const add = (instanceId: string) =>
      call('instances.create', {
        params: stable.params,
        body: { entitySchema: 'horse', instanceId, state: { name: instanceId } },
      });
    for (const horse of horses) await add(horse);
    return {
      add,
      params: stable.params,
      claim: `${address} schema 2`,
      retire: (id: string) => stable.execute({ id }, {}, 'retire'),
      held: async () =>
        (await ask('references.held', { deployment: address, versionIds: [], schemaIds: [2] })).schemaIds,
    };
  };

  it('is let go of when the catalog asks, and claimed anew by the next instance', async () => {
    const { add, claim, retire, held } = await plantStable(['a', 'b']);
    await retire('a');
    expect(await held()).toEqual([2]);
    await retire('b');
    expect(await held()).toEqual([]);
    catalog.claims.delete(claim);
    // Nor does the next owner read it as claimed.
    await first[Symbol.asyncDispose]();
    await boot();
    await add('c');
    expect(catalog.claims).toContain(claim);
    expect(await held()).toEqual([2]);
  });

  it('is not let go of while an instance of it is being committed', async () => {
    const { add, retire, held, params } = await plantStable(['a']);
    await retire('a');
    const commit = holdCommits();
    const added = add('b');
    await commit.reached;
    const answer = held();
    // Its read of the database is done.
    await call('instances.list', { params });
    commit.letGo();
    await added;
    expect(await answer).toEqual([2]);
  });
});
