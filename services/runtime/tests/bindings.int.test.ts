import { describe, expect, it } from 'vitest';
import { incrementVersion } from './fake-catalog.js';
import { codeOf, type House, plantDeployment, prepareHouse, refusalOf } from './running-runtime.js';

const house: House = await prepareHouse();
await house.boot();
const { call, catalog } = house;
catalog.plantVersion({ ...incrementVersion, version: 2, versionId: 2 });
catalog.plantVersion({ ...incrementVersion, event: 'other', versionId: 3 });

describe('bindings', () => {
  it('are listed, or one by its event', async () => {
    const { params } = await plantDeployment(house);
    const { data: all } = await call('bindings.list', { params });
    const { data: one } = await call('bindings.list', { params, query: { event: 'increment' } });
    expect(all).toEqual([one]);
    expect(one).toMatchObject({ event: 'increment', eventVersion: 1, targetChains: [], onchain: null });
    expect(await codeOf(call('bindings.list', { params, query: { event: 'none' } }))).toBe(
      'event_binding_not_found',
    );
  });

  it('are added all or none', async () => {
    const { params } = await plantDeployment(house);
    const other = {
      event: 'other',
      eventVersion: 1,
      targetChains: ['base-sepolia'],
      onchain: { result: ['x'] },
    };
    const both = [other, { event: 'increment', eventVersion: 1 }];
    expect(await refusalOf(call('bindings.add', { params, body: both }))).toMatchObject({
      code: 'event_binding_exists',
      message: 'The event "increment" is bound already. PUT the bindings to change its version.',
      errors: [{ pointer: '/1/event' }],
    });
    expect(await codeOf(call('bindings.add', { params, body: [other, other] }))).toBe('duplicate_event');
    expect(await codeOf(call('bindings.add', { params, body: { ...other } }))).toBe('body_must_be_array');
    expect((await call('bindings.list', { params })).data).toHaveLength(1);
    const { data } = await call('bindings.add', { params, body: [other] });
    expect(data).toMatchObject([other]);
    expect((await call('bindings.list', { params })).data).toHaveLength(2);
  });

  it('claim nothing where they are refused, and leave the claims of what is bound as they are', async () => {
    const { params, deployment } = await plantDeployment(house, {
      bindings: [{ event: 'other', eventVersion: 1 }],
    });
    const { address } = deployment;
    const next = [{ event: 'other', eventVersion: 2 }];
    catalog.plantVersion({ ...incrementVersion, event: 'other', version: 2, versionId: 4 });
    const refused = [
      next,
      [
        { event: 'increment', eventVersion: 1 },
        { event: 'other', eventVersion: 1 },
      ],
    ];
    for (const body of refused)
      expect(await codeOf(call('bindings.add', { params, body }))).toBe('event_binding_exists');
    const claims = () => [...catalog.claims].filter((claim) => claim.startsWith(address)).sort();
    expect(claims()).toEqual([`${address} version 3`, `${address} world 1`]);
    await call('deployments.lock', { params });
    for (const name of ['bindings.add', 'bindings.update'] as const)
      expect(await codeOf(call(name, { params, body: next }))).toBe('deployment_locked');
    expect(claims()).toEqual([`${address} version 3`, `${address} world 1`]);
  });

  it('unbound after a refusal have no claim any more', async () => {
    const { params, deployment } = await plantDeployment(house);
    const body = [{ event: 'increment', eventVersion: 1 }];
    expect(await codeOf(call('bindings.add', { params, body }))).toBe('event_binding_exists');
    await call('bindings.remove', { params, query: { event: 'increment' } });
    expect(catalog.claims.has(`${deployment.address} version 1`)).toBe(false);
  });

  it('are added once for an Idempotency-Key, whatever has changed since', async () => {
    const { params, deployment } = await plantDeployment(house);
    const headers = { 'idempotency-key': 'bind once' };
    const add = (eventVersion = 1) =>
      call('bindings.add', { params, headers, body: [{ event: 'other', eventVersion }] });
    const [first, atOnce] = await Promise.all([add(), add()]);
    expect(atOnce).toEqual(first);
    expect(await codeOf(add(2))).toBe('idempotency_key_reused');
    await call('bindings.remove', { params, query: { event: 'other' } });
    const claimed = `${deployment.address} version 3`;
    expect(catalog.claims.has(claimed)).toBe(false);
    expect(await add()).toEqual(first);
    expect(catalog.claims.has(claimed)).toBe(false);
    expect((await call('bindings.list', { params })).data).toHaveLength(1);
  });

  it('are refused when the entry that tells of them would be too large', async () => {
    const { params } = await plantDeployment(house);
    const names = Array.from({ length: 200 }, (_, index) => `${index}`.padEnd(255, '馬'));
    const large = { event: 'other', eventVersion: 1, onchain: { stateChanges: names, result: names } };
    expect(await refusalOf(call('bindings.add', { params, body: [large] }))).toMatchObject({
      code: 'change_too_large',
      facts: { limit: 256 * 1024 },
    });
    const created = call('deployments.create', {
      params: { worldAddress: params.worldAddress },
      body: { name: 'Large', bindings: [large] },
    });
    expect(await codeOf(created)).toBe('change_too_large');
    expect((await call('bindings.list', { params })).data).toHaveLength(1);
  });

  it('change only what is named, and the next execution uses it', async () => {
    const { params, execute, deployment } = await plantDeployment(house);
    const chains = [{ event: 'increment', targetChains: ['base-sepolia'] }];
    expect((await call('bindings.update', { params, body: chains })).data).toMatchObject([
      { eventVersion: 1, targetChains: ['base-sepolia'] },
    ]);
    const version = [{ event: 'increment', eventVersion: 2 }];
    expect((await call('bindings.update', { params, body: version })).data).toMatchObject([
      { eventVersion: 2, targetChains: ['base-sepolia'] },
    ]);
    expect((await execute({ id: 'b' })).data).toMatchObject({
      eventVersion: 2,
      pushes: [{ chain: 'base-sepolia', status: 'queued' }],
    });
    expect([...catalog.claims].filter((claim) => claim.startsWith(deployment.address)).sort()).toEqual([
      `${deployment.address} schema 1`,
      `${deployment.address} version 2`,
      `${deployment.address} world 1`,
    ]);
    const unbound = [{ event: 'increment', eventVersion: 1 }, { event: 'other' }];
    expect(await refusalOf(call('bindings.update', { params, body: unbound }))).toMatchObject({
      code: 'event_binding_not_found',
      errors: [{ pointer: '/1/event' }],
    });
  });

  it('push heads in place of executions where they say so, and never both', async () => {
    const { params, execute } = await plantDeployment(house);
    const bind = (onchain: object) =>
      call('bindings.update', {
        params,
        body: [{ event: 'increment', targetChains: ['base-sepolia'], onchain }],
      });
    expect(await refusalOf(bind({ head: 'hourly', result: [] }))).toMatchObject({
      code: 'validation_failed',
      errors: [
        {
          pointer: '/0/onchain/head',
          message: 'A head holds no contents: give either head, or stateChanges and result.',
        },
      ],
    });
    const [problem] = (await refusalOf(bind({ head: 'daily' }))).errors;
    expect(problem).toMatchObject({ pointer: '/0/onchain/head', message: expect.stringMatching(/hourly/) });
    expect((await bind({ head: 'hourly' })).data).toMatchObject([{ onchain: { head: 'hourly' } }]);
    const pushed = async () => (await execute({ id: 'b' })).data as { seq: number; pushes: object[] };
    const { seq, pushes } = await pushed();
    expect(pushes).toEqual([]);
    const range = { deployment: params.address, after: seq - 1, limit: 1 };
    const { entries } = await house.ask('journal.range', range);
    expect(entries[0]?.binding).toEqual({
      ...{ targetChains: [], onchain: null, headChains: ['base-sepolia'] },
    });
    expect((await bind({})).data).toMatchObject([{ onchain: {} }]);
    expect((await pushed()).pushes).toHaveLength(1);
  });

  it('are at most 200, also those of a clone', async () => {
    const bindings = Array.from({ length: 200 }, (_, n) => ({ event: `many ${n}`, eventVersion: 1 }));
    for (const [n, { event }] of bindings.entries())
      catalog.plantVersion({ ...incrementVersion, event, versionId: 1000 + n });
    const { params, deployment } = await plantDeployment(house, { bindings: bindings.slice(1) });
    const add = (event: string) => call('bindings.add', { params, body: [{ event, eventVersion: 1 }] });
    await add('many 0');
    expect(await refusalOf(add('other'))).toMatchObject({ code: 'limit_reached', facts: { limit: 200 } });
    const clone = (event: string) =>
      plantDeployment(house, {
        bindings: [{ event, eventVersion: 1 }],
        sourceDeployment: deployment.address,
      });
    expect(await codeOf(clone('other'))).toBe('limit_reached');
    await clone('many 0');
  });

  it('are removed, with their claims', async () => {
    const { params, execute, deployment, verify } = await plantDeployment(house);
    await call('bindings.remove', { params, query: { event: 'increment' } });
    expect(await codeOf(execute({ id: 'b' }))).toBe('event_not_bound');
    expect(await codeOf(call('bindings.remove', { params, query: { event: 'increment' } }))).toBe(
      'event_binding_not_found',
    );
    expect(catalog.claims.has(`${deployment.address} version 1`)).toBe(false);
    await call('bindings.add', { params, body: [{ event: 'increment', eventVersion: 1 }] });
    await execute({ id: 'b' });
    expect(await verify()).toMatchObject({ valid: true });
  });
});
