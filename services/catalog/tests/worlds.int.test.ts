import { accountChanged } from '@orrery/contracts';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { rememberQuotas } from '../src/store/worlds/quota-store.js';
import {
  bootCatalog,
  codeOf,
  OTHER,
  OWNER,
  plantWorld,
  type RunningTestCatalog,
  unique,
} from './running-catalog.js';

describe('worlds', () => {
  let catalog: RunningTestCatalog;
  beforeAll(async () => {
    catalog = await bootCatalog();
  });
  const create = async (body: object = {}, account = OWNER) =>
    (await catalog.call('worlds.create', { body: { name: unique('world'), ...body } }, account)).data;

  it('answers a world with all its fields, found by id and by address in any case', async () => {
    const world = await create({ description: 'Fast', domainTags: ['racing', 'horses'], promptSeed: 'Seed' });
    expect(world).toMatchObject({
      description: 'Fast',
      domainTags: ['racing', 'horses'],
      promptSeed: 'Seed',
      isPublic: false,
    });
    expect(world.address).toMatch(/^0x[0-9a-f]{40}$/);
    expect(world.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    for (const idOrAddress of [
      String(world.id),
      world.address,
      world.address.toUpperCase().replace('0X', '0x'),
    ])
      expect((await catalog.call('worlds.get', { params: { idOrAddress } })).data).toEqual(world);
  });

  it('allows two worlds of one name', async () => {
    const name = unique('twin');
    expect((await create({ name })).id).not.toBe((await create({ name })).id);
  });

  it('changes what a PUT names and leaves the rest; null removes a text', async () => {
    const world = await create({ description: 'Old', promptSeed: 'Seed' });
    const params = { idOrAddress: world.address };
    const { data } = await catalog.call('worlds.update', { params, body: { description: null } });
    expect(data).toMatchObject({ name: world.name, description: null, promptSeed: 'Seed' });
    expect((await catalog.call('worlds.update', { params })).data.name).toBe(world.name);
  });

  it('shows a published world to others, without its prompt seed', async () => {
    const world = await create({ promptSeed: 'Secret' });
    const params = { idOrAddress: world.address };
    expect(await codeOf(catalog.call('worlds.get', { params }, OTHER))).toBe('world_not_found');
    const published = await catalog.call('worlds.publish', { params });
    expect(published).toMatchObject({
      data: { isPublic: true },
      message: expect.stringMatching(/now published/),
    });
    expect((await catalog.call('worlds.publish', { params })).message).toMatch(/already/);
    const { data: seen } = await catalog.call('worlds.get', { params }, OTHER);
    expect(seen).not.toHaveProperty('promptSeed');
    expect(await codeOf(catalog.call('worlds.update', { params }, OTHER))).toBe('forbidden');
    const withdrawn = await catalog.call('worlds.unpublish', { params });
    expect(withdrawn).toMatchObject({
      data: { isPublic: false },
      message: expect.stringMatching(/now private/),
    });
    expect((await catalog.call('worlds.unpublish', { params })).message).toMatch(/already/);
    expect(await codeOf(catalog.call('worlds.get', { params }, OTHER))).toBe('world_not_found');
  });

  it('lists what an account can see in order of creation, and counts it', async () => {
    const [mine, theirs] = [901, 902];
    const first = await create({}, mine);
    const hidden = await create({}, theirs);
    const open = await create({}, theirs);
    const last = await create({}, mine);
    await catalog.call('worlds.publish', { params: { idOrAddress: open.address } }, theirs);
    const all = await catalog.call('worlds.list', { query: { limit: '100' } }, mine);
    const ids = all.data.map(({ id }) => id);
    expect(ids.filter((id) => id >= first.id)).toEqual([first.id, open.id, last.id]);
    expect(ids).not.toContain(hidden.id);
    expect(all.pagination.total).toBe(ids.length);
    const own = await catalog.call('worlds.list', { query: { owner: 'me', limit: '1', page: '2' } }, mine);
    expect(own.data.map(({ id }) => id)).toEqual([last.id]);
    expect(own.pagination).toEqual({ page: 2, limit: 1, total: 2, totalPages: 2 });
    await catalog.call('worlds.delete', { params: { idOrAddress: open.address } }, theirs);
    const later = await catalog.call('worlds.list', {}, mine);
    expect(later.pagination.total).toBe(all.pagination.total - 1);
  });

  it('refuses pages that lie too deep', async () => {
    const query = { page: '1001', limit: '100' };
    expect(await codeOf(catalog.call('worlds.list', { query }))).toBe('page_too_deep');
  });

  it('deletes a world with all it holds', async () => {
    const { world, event, inWorld } = await plantWorld(catalog);
    const params = { ...inWorld, eventName: event.name, version: '1' };
    await catalog.call('versions.lock', { params });
    const path = { params: { idOrAddress: world.address } };
    expect((await catalog.call('worlds.delete', path)).data).toEqual({ deleted: true });
    expect(await codeOf(catalog.call('worlds.get', path))).toBe('world_not_found');
    expect(await codeOf(catalog.call('versions.get', { params }))).toBe('world_not_found');
  });

  it('keeps to the quota that the gateway told of', async () => {
    const { db, bus } = catalog;
    const state = { accountId: 77, disabled: false, quotas: { worlds: 1 }, revision: 2 };
    await bus.publish(accountChanged, state, { id: 'quota-77' });
    const known = () =>
      db.selectFrom('account_quotas').selectAll().where('account_id', '=', 77).executeTakeFirst();
    await expect.poll(known).toMatchObject({ worlds: 1 });
    await create({}, 77);
    expect(await codeOf(create({}, 77))).toBe('quota_exceeded');
  });

  it('asks the gateway for the quota of an account that it has not heard of', async () => {
    const { accounts } = catalog;
    accounts.set(79, { accountId: 79, disabled: false, quotas: { worlds: 0 }, revision: 1 });
    expect(await codeOf(create({}, 79))).toBe('quota_exceeded');
    accounts.delete(79);
  });

  it('asks the gateway now and then for quotas that it was not told of', async () => {
    const { accounts, clock, db } = catalog;
    for (const [accountId, worlds] of [
      [77, 9],
      [78, 3],
    ] as const)
      accounts.set(accountId, { accountId, disabled: false, quotas: { worlds }, revision: 1 });
    await clock.advance(61_000);
    const known = async () =>
      db
        .selectFrom('account_quotas')
        .select('worlds')
        .where('account_id', 'in', [77, 78])
        .orderBy('account_id')
        .execute();
    // What it knows of account 77 is newer.
    await expect.poll(known).toEqual([{ worlds: 1 }, { worlds: 3 }]);
  });

  it('writes the quotas of those accounts alone that have news', async () => {
    const { db } = catalog;
    const states = [801, 802, 803].map((accountId) => ({
      ...{ accountId, disabled: false, quotas: { worlds: 5 }, revision: 3 },
    }));
    /** A row that was locked or written again has an `xmax`, or another place. */
    const rows = async () =>
      (
        await sql<{ id: number }>`select account_id as id, ctid::text, xmax::text, worlds, revision
          from account_quotas where account_id > 800 order by account_id`.execute(db)
      ).rows;
    await rememberQuotas(db, states);
    const before = await rows();
    expect(before).toMatchObject(states.map(({ accountId }) => ({ id: accountId, worlds: 5, revision: 3 })));
    const revisions = [3, 4, 2];
    await rememberQuotas(
      db,
      states.map((state, at) => ({ ...state, quotas: {}, revision: revisions[at] ?? 0 })),
    );
    const after = await rows();
    expect([after[0], after[2]]).toEqual([before[0], before[2]]);
    expect(after[1]).toMatchObject({ worlds: null, revision: 4 });
  });
});
