import { type CatalogChanged, catalogChanged } from '@orrery/contracts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { bootCatalog, plantWorld } from './running-catalog.js';

describe('changes', () => {
  it('are told on the bus after they were made, those of one thing in their order', async () => {
    const catalog = await bootCatalog();
    const told: CatalogChanged[] = [];
    const stop = new AbortController();
    onTestFinished(() => stop.abort());
    await catalog.bus.consume(catalogChanged, {
      consumer: 'test',
      signal: stop.signal,
      handle: async (change) => {
        told.push(change);
      },
    });
    const { world, inWorld } = await plantWorld(catalog);
    const path = { params: { idOrAddress: world.address } };
    const version = { params: { ...inWorld, eventName: 'race', version: '1' } };
    await catalog.call('worlds.publish', path);
    await catalog.call('worlds.publish', path);
    await catalog.call('worlds.unpublish', path);
    await catalog.call('versions.update', { ...version, body: { behaviorPrompt: 'x' } });
    await catalog.call('versions.lock', version);
    await catalog.call('versions.lock', version);
    await catalog.call('worlds.delete', path);
    await catalog.relay.runOnce();
    const changesOf = (subject: string) =>
      told.filter((change) => change.subject === subject).map(({ change }) => change);
    await expect.poll(() => changesOf('world')).toEqual(['created', 'published', 'unpublished', 'deleted']);
    await expect.poll(() => changesOf('event_version')).toEqual(['updated', 'locked']);
    expect(told).toContainEqual({
      worldId: world.id,
      worldAddress: world.address,
      ownerAccountId: 1,
      subject: 'event_version',
      name: 'race',
      version: 1,
      change: 'locked',
      at: expect.any(String),
    });
  });
});
