import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import type { ClaimedCopies } from '../src/store/deployments/copy-source.js';
import { copySource, SourceChanged } from '../src/store/deployments/copy-source.js';
import { NotOwner, partitionOf } from '../src/store/leases/leases.js';
import { listBindings } from '../src/store/state/bindings.js';
import { createCloneOrder } from '../src/store/state/clone-order.js';
import type { Trx } from '../src/store/tables/schema.js';
import {
  codeOf,
  type House,
  OTHER,
  OWNER,
  plantDeployment,
  prepareHouse,
  type RpcName,
  refusalOf,
} from './running-runtime.js';

const house: House = await prepareHouse();
/** No lease of these tests ends, and with it an epoch, because the machine is busy. */
const boot = () => house.boot({ leaseTtlMs: 600_000 });
let runtime = await boot();
house.catalog.plantVersion({
  event: 'double',
  versionId: 70,
  inputSchema: { id: 'string' },
  mutationSettings: {
    mode: 'direct',
    template: { 'counter:{{input.id}}': { count: { $increment: 2 } } },
  },
});
const double = { event: 'double', eventVersion: 1 };
house.catalog.plantVersion({
  event: 'lines_up',
  versionId: 71,
  readEntities: [{ schema: 'counter' }],
  mutationSettings: { mode: 'direct', template: { result: { line: '{{ entities.counter.map(id, id) }}' } } },
});

/** Counters c0 … c4 at 1; seq 1 + 5 + 5. */
async function plantSource(body: object = {}) {
  const source = await plantDeployment(house, body);
  for (const id of ['c3', 'c0', 'c1', 'c2', 'c4']) await source.createCounter(id, { label: 'a' });
  for (const id of ['c0', 'c1', 'c2', 'c3', 'c4']) await source.execute({ id });
  return source;
}

const bound = (event: string) => ({ event, eventVersion: 1 });
const cloneOf = (sourceDeployment: string, body: object = {}) =>
  plantDeployment(house, { bindings: [], sourceDeployment, ...body });

describe('a clone', () => {
  it('begins with the instances and bindings of its source, and goes its own way', async () => {
    const source = await plantSource({
      bindings: [{ event: 'increment', eventVersion: 1, targetChains: ['near-testnet'] }],
    });
    const clone = await cloneOf(source.deployment.address, { name: 'Copy' });
    expect(clone.deployment).toMatchObject({
      name: 'Copy',
      mode: 'upgradable',
      isPublic: false,
      source: { address: source.deployment.address, seq: 11 },
    });
    const { data: bindings } = await house.call('bindings.list', { params: clone.params });
    expect(bindings).toMatchObject([
      { event: 'increment', eventVersion: 1, targetChains: ['near-testnet'], onchain: null },
    ]);
    const list = await house.call('instances.list', { params: clone.params });
    expect(list.pagination.total).toBe(5);
    expect(list.data.map(({ instanceId }) => instanceId)).toEqual(['c3', 'c0', 'c1', 'c2', 'c4']);
    expect(await clone.counter('c0')).toMatchObject({ state: { count: 1, label: 'a' }, revision: 1 });
    expect(await clone.history({ include: 'all' })).toMatchObject([{ seq: 1, kind: 'deployment_created' }]);
    await clone.execute({ id: 'c0' });
    await house.call('instances.delete', { params: { ...clone.params, instanceId: 'c1' } });
    expect(await clone.counter('c0')).toMatchObject({ state: { count: 2 }, revision: 2 });
    expect(await source.counter('c0')).toMatchObject({ state: { count: 1 } });
    expect(await clone.verify()).toMatchObject({ valid: true, entries: 3 });
  });

  it('shows its beginning at any entry', async () => {
    const source = await plantSource();
    const clone = await cloneOf(source.deployment.id.toString());
    await clone.execute({ id: 'c0' });
    const at = (instanceId: string, atSeq: number) =>
      house.call('instances.get', { params: { ...clone.params, instanceId }, query: { atSeq } });
    expect((await at('c0', 1)).data).toMatchObject({ state: { count: 1 }, revision: 1 });
    expect((await at('c0', 2)).data).toMatchObject({ state: { count: 2 }, revision: 2 });
    expect((await at('c4', 2)).data).toMatchObject({ state: { count: 1 }, revision: 1 });
  });

  it('lists its beginning at its first entry, in the order of its source, also as a fork', async () => {
    const source = await plantSource();
    await source.execute({ id: 'c1' });
    const listAt = async ({ params }: { params: object }, atSeq: number) => {
      const { data } = await house.call('instances.list', {
        params: { ...params },
        query: { atSeq, limit: 100 },
      });
      return data.map(({ instanceId, state }) => [instanceId, state]);
    };
    for (const body of [{}, { sourceSeq: 7 }]) {
      const clone = await cloneOf(source.deployment.address, body);
      const begun = await listAt(source, clone.deployment.source?.seq ?? 0);
      await clone.execute({ id: 'c0' });
      await house.call('instances.delete', { params: { ...clone.params, instanceId: 'c1' } });
      expect(await listAt(clone, 1)).toEqual(begun);
      expect(await listAt(clone, 3)).toHaveLength(begun.length - 1);
      expect(await codeOf(listAt(clone, 4))).toBe('entity_instance_not_found');
    }
  });

  it('has the order that its source had then, also of what has been deleted or created anew since', async () => {
    const remove = ({ params }: { params: object }, instanceId: string) =>
      house.call('instances.delete', { params: { ...params, instanceId } });
    const listOf = async ({ params }: { params: object }, query: Record<string, string> = {}) =>
      (await house.call('instances.list', { params: { ...params }, query })).data.map(
        (one) => one.instanceId,
      );
    const source = await plantDeployment(house);
    for (const id of ['b', 'c', 'a', 'd']) await source.createCounter(id);
    await remove(source, 'd');
    await source.createCounter('d');
    for (const id of ['b', 'c']) await remove(source, id);
    await source.createCounter('c');
    const orders = { 5: ['b', 'c', 'a', 'd'], 7: ['b', 'c', 'a', 'd'], 9: ['a', 'd'], 10: ['a', 'd', 'c'] };
    for (const [seq, order] of Object.entries(orders)) {
      const clone = await cloneOf(source.deployment.address, { sourceSeq: Number(seq) });
      expect(await listOf(clone)).toEqual(order);
      expect(await listOf(clone, { atSeq: '1' })).toEqual(order);
      await remove(clone, 'a');
      const twice = await cloneOf(clone.deployment.address, { sourceSeq: 1 });
      expect(await listOf(twice)).toEqual(order);
    }
  });

  it('shows what is created in it after what it began with', async () => {
    const source = await plantSource({ bindings: ['increment', 'lines_up'].map(bound) });
    const clone = await cloneOf(source.deployment.address);
    await clone.createCounter('c9');
    await clone.execute({ id: 'c8' });
    const { data } = await clone.execute({}, {}, 'lines_up');
    expect(data).toMatchObject({ result: { line: ['c3', 'c0', 'c1', 'c2', 'c4', 'c9', 'c8'] } });
    const query = { decisions: 'true' };
    const verified = await house.call('history.verify', { params: clone.params, query });
    expect(verified.data).toMatchObject({ valid: true, decisions: { rerun: 2 } });
  });

  describe('by an earlier release, with ids from before it was made', () => {
    const listOf = async ({ params }: { params: object }) =>
      (await house.call('instances.list', { params: { ...params } })).data.map((one) => one.instanceId);
    const restart = async () => {
      await runtime[Symbol.asyncDispose]();
      runtime = await boot();
    };

    it('shows what is created in it after what it began with, from when it is loaded', async () => {
      const source = await plantSource({ bindings: ['increment', 'lines_up'].map(bound) });
      const clone = await cloneOf(source.deployment.address);
      for (const id of ['c9', 'c7']) await clone.createCounter(id);
      await house.call('instances.delete', { params: { ...clone.params, instanceId: 'c0' } });
      await clone.createCounter('c0');
      await sql`
        update instances i set id = f.id - 20 + i.id % 10, created_at = f.created_at
        from (select min(id) as id, min(created_at) as created_at from instances where deployment_id = ${clone.deployment.id}) f
        where deployment_id = ${clone.deployment.id} and instance_id in ('c9', 'c7')`.execute(
        runtime.context.db,
      );
      await restart();
      expect(await listOf(clone)).toEqual(['c9', 'c7', 'c3', 'c1', 'c2', 'c4', 'c0']);
      const order = ['c3', 'c1', 'c2', 'c4', 'c9', 'c7', 'c0'];
      expect(await listOf(await cloneOf(clone.deployment.address))).toEqual(order);
      const { data } = await clone.execute({}, {}, 'lines_up');
      expect(data).toMatchObject({ result: { line: order } });
      await clone.createCounter('c8');
      const again = await clone.execute({}, {}, 'lines_up');
      expect(again.data).toMatchObject({ result: { line: [...order, 'c8'] } });
      expect(await listOf(clone)).toEqual([...order, 'c8']);
      const query = { decisions: 'true' };
      const verified = await house.call('history.verify', { params: clone.params, query });
      expect(verified.data).toMatchObject({ valid: true, decisions: { rerun: 2 } });
    });

    it('is brought into order by its owner alone, however many there are, by ids that are greater', async () => {
      const { db } = runtime.context;
      const clone = await cloneOf((await plantSource()).deployment.address);
      const { id: deploymentId } = clone.deployment;
      await sql`update instances set id = id + 40000 where deployment_id = ${deploymentId}`.execute(db);
      await sql`
        insert into instances (id, deployment_id, entity_schema, instance_id, state, revision, created_at, updated_at)
        select n, ${deploymentId}, 'counter', 'n' || n, '{}', 1, now(), now() from generate_series(1, 10001) n`.execute(
        db,
      );
      const { rows } = await sql<{ epoch: number }>`
        select epoch from partitions where id = ${partitionOf(deploymentId)}`.execute(db);
      const epoch = rows[0]?.epoch ?? 0;
      const putOwnLast = createCloneOrder(db, new AbortController().signal);
      const idsNow = async () =>
        (
          await sql<{ instance_id: string; id: number }>`
            select instance_id, id from instances where deployment_id = ${deploymentId} order by id`.execute(
            db,
          )
        ).rows;
      const before = await idsNow();
      await expect(putOwnLast({ deploymentId, epoch: epoch - 1 })).rejects.toThrow(NotOwner);
      expect(await idsNow()).toEqual(before);
      const greatest = await putOwnLast({ deploymentId, epoch });
      const after = await idsNow();
      const own = Array.from({ length: 10_001 }, (_, index) => `n${index + 1}`);
      expect(after.map((one) => one.instance_id)).toEqual(['c3', 'c0', 'c1', 'c2', 'c4', ...own]);
      expect(after.slice(0, 5)).toEqual(before.slice(-5));
      expect(after.at(-1)?.id).toBe(greatest);
    });
  });

  it('can begin at any entry of its source, also of one that is a clone', async () => {
    const source = await plantSource();
    const early = await cloneOf(source.deployment.address, { sourceSeq: 7 });
    expect(early.deployment.source).toMatchObject({ seq: 7 });
    expect(await early.counter('c0')).toMatchObject({ state: { count: 1 } });
    expect(await early.counter('c1')).toMatchObject({ state: { count: 0 } });
    const twice = await cloneOf(early.deployment.address, { sourceSeq: 1 });
    await twice.execute({ id: 'c1' });
    expect(await twice.counter('c1')).toMatchObject({ state: { count: 1 }, revision: 2 });
    expect(await twice.verify()).toMatchObject({ valid: true });
    const now = await cloneOf(early.deployment.address);
    expect(now.deployment.source?.snapshotHash).toBe(twice.deployment.source?.snapshotHash);
    expect(await codeOf(cloneOf(source.deployment.address, { sourceSeq: 12 }))).toBe('validation_failed');
  });

  it('prefers the bindings that are given, and may be locked from the start', async () => {
    const source = await plantSource({ bindings: [{ event: 'increment', eventVersion: 1 }, double] });
    const given = [{ ...double, targetChains: ['near-testnet'] }];
    const clone = await cloneOf(source.deployment.address, { bindings: given, mode: 'locked' });
    expect(clone.deployment).toMatchObject({ mode: 'locked', definitionHash: expect.any(String) });
    const { data } = await house.call('bindings.list', { params: clone.params });
    expect(data).toMatchObject([
      { event: 'double', targetChains: ['near-testnet'] },
      { event: 'increment', targetChains: [] },
    ]);
    expect(await clone.verify()).toMatchObject({ valid: true });
  });

  it('claims what it copies from the catalog', async () => {
    const source = await plantSource();
    const clone = await cloneOf(source.deployment.address);
    const held = await house.ask('references.held', {
      deployment: clone.deployment.address,
      versionIds: [1],
      schemaIds: [1],
    });
    expect(held).toEqual({ exists: true, versionIds: [1], schemaIds: [1] });
    expect(house.catalog.claims).toContain(`${clone.deployment.address} schema 1`);
    expect(house.catalog.claims).toContain(`${clone.deployment.address} version 1`);
  });

  it('comes from a deployment of the same account and world that is there', async () => {
    const source = await plantSource();
    const absent = await refusalOf(cloneOf('999999'));
    expect(absent.code).toBe('unknown_deployment');
    expect(absent.errors).toMatchObject([{ pointer: '/sourceDeployment' }]);
    const foreign = house.call(
      'deployments.create',
      {
        params: { worldAddress: '1' },
        body: { name: 'Mine', bindings: [], sourceDeployment: source.deployment.address },
      },
      { accountId: OTHER },
    );
    expect(await codeOf(foreign)).toBe('world_not_found');
    // No operation makes such a row: only its owner deploys in a world.
    for (const column of ['owner_account_id', 'world_id']) {
      const set = (value: number) =>
        sql`update deployments set ${sql.ref(column)} = ${value} where id = ${source.deployment.id}`;
      await set(OTHER).execute(runtime.context.db);
      expect(await codeOf(cloneOf(source.deployment.address))).toBe('unknown_deployment');
      await set(OWNER).execute(runtime.context.db);
    }
    await house.call('deployments.delete', { params: source.params });
    expect(await codeOf(cloneOf(source.deployment.address))).toBe('unknown_deployment');
    expect(await codeOf(plantDeployment(house, { sourceSeq: 1 }))).toBe('validation_failed');
  });

  it('is answered again under its Idempotency-Key when the source is gone', async () => {
    const source = await plantSource();
    const body = { name: 'Copy', bindings: [], sourceDeployment: source.deployment.address };
    const create = (change: object = {}) =>
      house.call('deployments.create', {
        params: { worldAddress: '1' },
        headers: { 'idempotency-key': 'copy' },
        body: { ...body, ...change },
      });
    const first = await create();
    await house.call('deployments.delete', { params: source.params });
    expect(await create()).toEqual(first);
    expect(await codeOf(create({ name: 'Other' }))).toBe('idempotency_key_reused');
  });

  it('that is too large is refused before anything is locked', async () => {
    const source = await plantSource();
    await runtime[Symbol.asyncDispose]();
    const small = await house.boot({ limits: { instancesPerDeployment: 4 } });
    const before = house.catalog.calls.lock;
    for (const from of [{}, { sourceSeq: 6 }]) {
      const clone = cloneOf(source.deployment.address, { mode: 'locked', ...from });
      expect(await codeOf(clone)).toBe('limit_reached');
    }
    expect(house.catalog.calls.lock).toBe(before);
    await small[Symbol.asyncDispose]();
    runtime = await boot();
  });

  describe('copies nothing that is not as it was claimed', () => {
    const copied = async (of: Partial<ClaimedCopies> = {}, limits = { instancesPerDeployment: 5 }) => {
      const source = await plantSource();
      const target = await plantDeployment(house, { bindings: [] });
      const { db } = runtime.context;
      const { id, address } = source.deployment;
      const copies: ClaimedCopies = {
        source: { id, address, source: null, seq: undefined, withTimers: false },
        sourceBindings: await listBindings(db, id),
        bindings: [],
        schemas: [{ name: 'counter', id: 1, revision: 1 }],
        ...of,
      };
      const at = new Date();
      const copy = (trx: Trx) =>
        copySource(trx, copies, { id: target.deployment.id, partition: 0, at, entryId: '' }, limits);
      return db.transaction().setIsolationLevel('repeatable read').execute(copy);
    };

    it('else all', async () => {
      expect(await copied()).toMatchObject({ instances: 5 });
    });

    it('other bindings', async () => {
      await expect(copied({ sourceBindings: [] })).rejects.toThrow(SourceChanged);
    });

    it('instances of another schema', async () => {
      const other = [{ name: 'horse', id: 2, revision: 1 }];
      await expect(copied({ schemas: other })).rejects.toThrow(SourceChanged);
    });

    it('more instances than are allowed', async () => {
      expect(await codeOf(copied({}, { instancesPerDeployment: 4 }))).toBe('limit_reached');
    });
  });

  it('is made again when the bindings of its source change meanwhile', async () => {
    const source = await plantSource();
    house.catalog.onNextClaim(() =>
      house.call('bindings.update', {
        params: source.params,
        body: [{ event: 'increment', targetChains: ['near-testnet'] }],
      }),
    );
    const clone = await cloneOf(source.deployment.address);
    const { data } = await house.call('bindings.list', { params: clone.params });
    expect(data).toMatchObject([{ targetChains: ['near-testnet'] }]);
  });

  it('is one moment of a source that is being written to', async () => {
    const source = await plantDeployment(house);
    await source.createCounter('left');
    await source.createCounter('right');
    const running = (async () => {
      for (let n = 0; n < 60; n += 1) {
        await source.execute({ id: 'left' });
        await source.execute({ id: 'right' });
      }
    })();
    const clones = [];
    for (let n = 0; n < 5; n += 1) clones.push(await cloneOf(source.deployment.address));
    await running;
    for (const clone of clones) {
      const seq = clone.deployment.source?.seq ?? 0;
      const fork = await cloneOf(source.deployment.address, { sourceSeq: seq });
      expect(fork.deployment.source).toEqual(clone.deployment.source);
    }
  });
});

it('a program that knows only the recipe follows a clone to its source', async () => {
  const source = await plantSource();
  const clone = await cloneOf(source.deployment.address, { sourceSeq: 8 });
  await clone.execute({ id: 'c2' });
  const base = await serve();
  const program = new URL('../../../docs/verify-history.mjs', import.meta.url).pathname;
  const { stdout } = await promisify(execFile)(process.execPath, [
    program,
    base,
    '1',
    clone.deployment.address,
    'token',
  ]);
  expect(JSON.parse(stdout)).toEqual({ valid: true, entries: 2, instances: 5 });
});

/** As much of the HTTP interface as the program reads. */
async function serve(): Promise<string> {
  const rpcs: Record<string, RpcName> = { history: 'history.list', 'entity-instances': 'instances.list' };
  const http = createServer(async ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://localhost');
    const [, , , worldAddress, , address, what] = pathname.split('/');
    const name = what === undefined ? 'deployments.get' : rpcs[what];
    if (name === undefined) return response.writeHead(404).end();
    const query = Object.fromEntries(searchParams);
    const reply = await house.call(name, { params: { worldAddress, address }, query });
    response.end(JSON.stringify({ success: true, ...reply }));
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  afterAll(() => http.close());
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}`;
}
