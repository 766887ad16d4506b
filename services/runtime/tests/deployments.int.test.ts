import { newAddress } from '@orrery/contracts';
import { query } from '@orrery/testing/servers';
import { describe, expect, it } from 'vitest';
import { modelNamed } from './model-double.js';
import { codeOf, type House, OTHER, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house: House = await prepareHouse();
await house.boot({ models: [{ ...modelNamed('priced', true), inputUsdPerMillionTokens: 1 }] });
const { call, ask, catalog } = house;
const asOther = { accountId: OTHER };

describe('deployments', () => {
  it('are found by id and by address, under their own world only', async () => {
    const { deployment, params } = await plantDeployment(house);
    for (const address of [
      deployment.address,
      deployment.address.toUpperCase().replace('0X', '0x'),
      String(deployment.id),
    ]) {
      expect((await call('deployments.get', { params: { ...params, address } })).data).toEqual(deployment);
    }
    expect(
      (await call('deployments.list', { params: { worldAddress: params.worldAddress } })).data,
    ).toContainEqual(deployment);
    const elsewhere = { ...params, worldAddress: '2' };
    expect(await codeOf(call('deployments.get', { params: elsewhere }))).toBe('deployment_not_found');
    expect(await codeOf(call('deployments.publish', { params: elsewhere }))).toBe('deployment_not_found');
  });

  it('are hidden from others until they are public, and then only to be read', async () => {
    const { params, createCounter } = await plantDeployment(house);
    await createCounter('c');
    const instance = { ...params, instanceId: 'c' };
    expect(await codeOf(call('deployments.get', { params }, asOther))).toBe('deployment_not_found');
    expect(await codeOf(call('deployments.pause', { params }, asOther))).toBe('deployment_not_found');
    await call('deployments.publish', { params });
    expect((await call('deployments.get', { params }, asOther)).data.isPublic).toBe(true);
    expect((await call('instances.get', { params: instance }, asOther)).data.instanceId).toBe('c');
    expect(await codeOf(call('deployments.pause', { params }, asOther))).toBe('forbidden');
    expect(await codeOf(call('instances.delete', { params: instance }, asOther))).toBe('forbidden');
    await call('deployments.unpublish', { params });
    expect(await codeOf(call('instances.get', { params: instance }, asOther))).toBe('deployment_not_found');
  });

  it('tell their budget to their owner alone', async () => {
    const { params, deployment } = await plantDeployment(house, { aiDailyBudgetUsd: 7 });
    await call('deployments.publish', { params });
    const budgets = async (as: object) => {
      const { data } = await call('deployments.get', { params }, as);
      const listed = (await call('deployments.list', { params: { worldAddress: params.worldAddress } }, as))
        .data;
      return [data, listed.find(({ id }) => id === deployment.id)].map((one) => one?.aiDailyBudgetUsd);
    };
    expect(await budgets({})).toEqual([7, 7]);
    expect(await budgets(asOther)).toEqual([null, null]);
  });

  it('say whether publishing did anything', async () => {
    const { params } = await plantDeployment(house);
    expect((await call('deployments.publish', { params })).message).toBe('Deployment published successfully');
    expect((await call('deployments.publish', { params })).message).toBe('Deployment is already public');
  });

  it('change what is named and keep the rest; every change is in the journal', async () => {
    const { params, verify, history } = await plantDeployment(house, {
      payToAddress: `0x${'ab'.repeat(20)}`,
      description: 'x',
    });
    const { data } = await call('deployments.update', { params, body: { name: 'New', payToAddress: null } });
    expect(data).toMatchObject({ name: 'New', payToAddress: null, description: 'x' });
    await call('deployments.pause', { params });
    await call('deployments.pause', { params });
    await call('deployments.resume', { params });
    const kinds = (await history({ include: 'all' })).map(({ kind }) => kind);
    expect(kinds).toEqual(['resumed', 'paused', 'settings_updated', 'deployment_created']);
    expect(await verify()).toMatchObject({ valid: true, entries: 4 });
    expect(await codeOf(call('deployments.update', { params, body: { aiModelId: 'none' } }))).toBe(
      'unknown_ai_model',
    );
  });

  it('are read and executed by connections that parsed before a newer release has added columns', async () => {
    const { params, deployment, execute, history } = await plantDeployment(house);
    const byId = { ...params, address: String(deployment.id) };
    const use = async (id: string) => {
      await execute({ id });
      const instance = { ...params, instanceId: id };
      await call('instances.get', { params: instance });
      await call('instances.list', { params });
      for (const one of [params, byId]) await call('deployments.get', { params: one });
      return history({ include: 'all' });
    };
    await use('before');
    const tables = await query<{ name: string }>(
      house.databaseUrl,
      "select table_name as name from information_schema.tables where table_schema = 'runtime'",
    );
    for (const { name } of tables)
      await query(house.databaseUrl, `alter table runtime.${name} add column newer int`);
    for (let n = 0; n < 3; n += 1)
      expect((await use(`after-${n}`))[0]).toMatchObject({ status: 'succeeded' });
  });

  it('that are refused leave no claim, neither on the world nor on a version', async () => {
    const before = new Set(catalog.claims);
    const params = { worldAddress: String(catalog.world.id) };
    const create = (body: object) =>
      codeOf(call('deployments.create', { params, body: { name: 'Refused', ...body } }));
    const bound = { event: 'increment', eventVersion: 1 };
    expect(await create({ bindings: [{ event: 'nosuch', eventVersion: 1 }] })).toBe('unknown_event');
    expect(await create({ bindings: [], sourceDeployment: newAddress() })).toBe('unknown_deployment');
    const long = Array.from({ length: 200 }, (_, index) => `${index}`.padEnd(255, '馬'));
    const onchain = { stateChanges: long, result: long };
    expect(await create({ bindings: [{ ...bound, onchain }] })).toBe('change_too_large');
    expect([...catalog.claims].filter((claim) => !before.has(claim))).toEqual([]);
  });

  it('are gone at once when deleted, and their claims with them', async () => {
    const { params, deployment, execute } = await plantDeployment(house);
    await call('deployments.delete', { params });
    expect(await codeOf(call('deployments.get', { params }))).toBe('deployment_not_found');
    expect(await codeOf(execute({ id: 'a' }))).toBe('deployment_not_found');
    expect([...catalog.claims].filter((claim) => claim.startsWith(deployment.address))).toEqual([]);
    const held = { deployment: deployment.address, versionIds: [1], schemaIds: [] };
    expect(await ask('references.held', held)).toEqual({ exists: false, versionIds: [], schemaIds: [] });
    const { entries } = await ask('journal.range', { deployment: deployment.address, after: 0, limit: 10 });
    expect(entries.map(({ kind }) => kind)).toEqual(['deployment_created', 'deleted']);
  });

  it('leave their owner payments and usage when deleted, and nothing else to be read', async () => {
    const { params } = await plantDeployment(house);
    await call('deployments.delete', { params });
    expect(await call('payments.list', { params })).toMatchObject({ data: [], totals: [] });
    expect((await call('deployments.usage', { params })).data.days).toEqual([]);
    for (const name of ['payments.list', 'deployments.usage'] as const)
      expect(await codeOf(call(name, { params }, asOther))).toBe('deployment_not_found');
    const id = crypto.randomUUID();
    const gone = await Promise.all([
      codeOf(call('timers.list', { params })),
      codeOf(call('timers.get', { params: { ...params, timerId: id } })),
      codeOf(call('executions.get', { params: { ...params, executionId: id } })),
    ]);
    expect(gone).toEqual(Array(3).fill('deployment_not_found'));
  });

  it('are created once per Idempotency-Key', async () => {
    const request = {
      params: { worldAddress: '1' },
      headers: { 'idempotency-key': 'new' },
      body: { name: 'Once', bindings: [] },
    };
    const [one, two] = await Promise.all([
      call('deployments.create', request),
      call('deployments.create', request),
    ]);
    expect(two).toEqual(one);
    const before = catalog.calls.lock;
    const bindings = [{ event: 'increment', eventVersion: 1 }];
    const other = { ...request, body: { name: 'Other', mode: 'locked', bindings } };
    expect(await codeOf(call('deployments.create', other))).toBe('idempotency_key_reused');
    expect(catalog.calls.lock).toBe(before);
  });

  it('refuse what names nothing, with the place', async () => {
    const create = (bindings: object[]) =>
      refusalOf(call('deployments.create', { params: { worldAddress: '1' }, body: { name: 'D', bindings } }));
    const known = { event: 'increment', eventVersion: 1 };
    expect(await create([known, known])).toMatchObject({
      code: 'duplicate_event',
      errors: [{ pointer: '/bindings/1/event' }],
    });
    expect(await create([known, { event: 'none', eventVersion: 1 }])).toMatchObject({
      code: 'unknown_event',
      errors: [{ pointer: '/bindings/1/event' }],
    });
    expect(await create([{ ...known, eventVersion: 9 }])).toMatchObject({ code: 'unknown_event_version' });
    expect(await create([{ ...known, targetChains: ['moon'] }])).toMatchObject({
      code: 'unknown_chain',
      errors: [{ pointer: '/bindings/0/targetChains/0' }],
    });
  });
});

describe('a locked deployment', () => {
  it('keeps what it runs for ever, and goes on running', async () => {
    const { params, createCounter, execute, verify } = await plantDeployment(house);
    await createCounter('c');
    const { data: locked } = await call('deployments.lock', { params });
    expect(locked).toMatchObject({ mode: 'locked', definitionHash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect((await call('deployments.lock', { params })).data).toEqual(locked);
    const instance = { ...params, instanceId: 'c' };
    const refused = [
      () => call('bindings.add', { params, body: [] }),
      () => call('bindings.remove', { params, query: { event: 'increment' } }),
      () => createCounter('d'),
      () => call('instances.update', { params: instance, body: { state: {} } }),
      () => call('instances.delete', { params: instance }),
      () => call('deployments.delete', { params }),
    ];
    for (const write of refused) expect(await codeOf(write())).toBe('deployment_locked');
    const { aiModelId } = locked;
    expect((await call('deployments.update', { params, body: { aiModelId } })).data).toEqual(locked);
    const otherModel = { params, body: { aiModelId: aiModelId === null ? 'gpt-4.1' : null } };
    expect(await refusalOf(call('deployments.update', otherModel))).toMatchObject({
      code: 'deployment_locked',
      message: expect.stringContaining('sourceDeployment'),
    });
    await call('deployments.update', { params, body: { name: 'Still mine' } });
    await execute({ id: 'c' });
    expect((await call('deployments.get', { params })).data.definitionHash).toBe(locked.definitionHash);
    expect(await verify()).toMatchObject({ valid: true });
  });

  it('may be locked from the start', async () => {
    const { deployment, execute } = await plantDeployment(house, { mode: 'locked' });
    expect(deployment).toMatchObject({
      mode: 'locked',
      definitionHash: expect.any(String),
      lockedAt: expect.any(String),
    });
    await execute({ id: 'born' });
  });
});
