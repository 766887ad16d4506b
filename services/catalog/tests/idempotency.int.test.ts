import { beforeAll, describe, expect, it } from 'vitest';
import {
  bootCatalog,
  codeOf,
  OTHER,
  plantWorld,
  type RunningTestCatalog,
  unique,
} from './running-catalog.js';

const DAY_MS = 86_400_000;

describe('Idempotency-Key on creations', () => {
  let catalog: RunningTestCatalog;
  beforeAll(async () => {
    catalog = await bootCatalog();
  });
  const create = async (key: string, body: object, account?: number) =>
    (await catalog.call('worlds.create', { headers: { 'idempotency-key': key }, body }, account)).data;

  it('gives the same answer again, quoted or bare, also after the thing has changed', async () => {
    const [key, body] = [unique('key'), { name: unique('world') }];
    const first = await create(key, body);
    await catalog.call('worlds.update', {
      params: { idOrAddress: first.address },
      body: { name: 'Renamed' },
    });
    expect(await create(`"${key}"`, body)).toEqual(first);
    await catalog.call('worlds.delete', { params: { idOrAddress: first.address } });
    expect(await create(key, body)).toEqual(first);
  });

  it('belongs to one account and one path', async () => {
    const [key, body] = [unique('key'), { name: unique('world') }];
    const first = await create(key, body);
    expect((await create(key, body, OTHER)).id).not.toBe(first.id);
    const { inWorld } = await plantWorld(catalog);
    const headers = { 'idempotency-key': key };
    const { data } = await catalog.call('entitySchemas.create', { params: inWorld, headers, body });
    expect(data.name).toBe(body.name);
  });

  it('is not used up by a refusal', async () => {
    const { inWorld } = await plantWorld(catalog);
    const headers = { 'idempotency-key': unique('key') };
    const send = (body: object) => catalog.call('entitySchemas.create', { params: inWorld, headers, body });
    expect(await codeOf(send({ name: 'horse' }))).toBe('entity_schema_exists');
    expect((await send({ name: 'cart' })).data.name).toBe('cart');
  });

  it('is free again after 24 hours, and swept', async () => {
    const [key, body] = [unique('key'), { name: unique('world') }];
    const first = await create(key, body);
    await catalog.clock.leap(DAY_MS - 1000);
    expect((await create(key, body)).id).toBe(first.id);
    await catalog.clock.leap(1001);
    expect((await create(key, body)).id).not.toBe(first.id);
    await catalog.clock.leap(DAY_MS + 1);
    await catalog.sweeps.keys.runOnce();
    const left = await catalog.pool.query('select count(*) as keys from idempotency_keys');
    expect(left.rows).toEqual([{ keys: 0 }]);
  });

  it.each(['', 'two"quotes', 'ünicode', 'x'.repeat(256)])('refuses the key %j', async (key) => {
    expect(await codeOf(create(key, { name: 'x' }))).toBe('validation_failed');
  });
});
