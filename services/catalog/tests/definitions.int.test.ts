import type { VersionDefinition } from '@orrery/contracts';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  bootCatalog,
  codeOf,
  deploymentAddress,
  plantWorld,
  type RunningTestCatalog,
  raceVersion,
  refusalOf,
} from './running-catalog.js';

describe('definitions', () => {
  let catalog: RunningTestCatalog;
  let planted: Awaited<ReturnType<typeof plantWorld>>;
  let remembered: VersionDefinition;
  beforeEach(async () => {
    catalog ??= await bootCatalog();
    planted = await plantWorld(catalog);
    remembered = await claimed(1);
  });
  const claimed = async (version: number) => {
    const claim = { worldId: planted.world.id, deployment: deploymentAddress() };
    const { definitions } = await catalog.ask('claims.versions', {
      ...claim,
      versions: [{ event: 'race', version }],
    });
    if (definitions[0] === undefined) throw new Error('nothing was claimed');
    return definitions[0];
  };
  const confirm = async (versionId = remembered.versionId, hash = remembered.hash) => {
    const asked = { versions: [{ versionId, hash }], schemas: [], worlds: [] };
    return (await catalog.ask('definitions.confirm', asked)).versions[0];
  };
  const inRace = () => ({ ...planted.inWorld, eventName: 'race' });

  it('holds all that running a version takes', () => {
    expect(remembered).toMatchObject({
      ...raceVersion,
      worldId: planted.world.id,
      eventId: planted.event.id,
      event: 'race',
      version: 1,
      isLocked: false,
      schemas: { horse: { schemaId: planted.schema.id, name: 'horse' } },
    });
    expect(remembered.schemas['horse']?.attributes[0]).toEqual({
      name: 'wins',
      type: 'integer',
      constraints: { min: 0 },
      defaultValue: 0,
    });
  });

  it('is the same until something in it changes', async () => {
    expect(await confirm()).toEqual({ state: 'same' });
    await catalog.call('worlds.update', {
      params: { idOrAddress: planted.world.address },
      body: { name: 'x' },
    });
    await catalog.call('events.update', { params: inRace(), body: { description: 'Runs' } });
    expect(await confirm()).toEqual({ state: 'same' });
  });

  it.each([
    [
      'the version',
      () =>
        catalog.call('versions.update', {
          params: { ...inRace(), version: '1' },
          body: { guards: { maxInstances: 1 } },
        }),
    ],
    [
      'a new attribute of a schema that it names',
      () =>
        catalog.call('attributes.create', {
          params: { ...planted.inWorld, schemaName: 'horse' },
          body: { name: 'age', type: 'float' },
        }),
    ],
    [
      'the end of an attribute',
      () =>
        catalog.call('attributes.delete', {
          params: { ...planted.inWorld, schemaName: 'horse', name: 'speed' },
        }),
    ],
    [
      'an attribute of a schema that it names',
      () =>
        catalog.call('attributes.update', {
          params: { ...planted.inWorld, schemaName: 'horse', name: 'wins' },
          body: { defaultValue: 1 },
        }),
    ],
    ['its lock', () => catalog.call('versions.lock', { params: { ...inRace(), version: '1' } })],
  ])('has changed at once after %s', async (_what, change) => {
    await change();
    const confirmed = await confirm();
    expect(confirmed?.state).toBe('changed');
    const now = await claimed(1);
    expect(confirmed).toEqual({ state: 'changed', definition: now });
    expect(await confirm(now.versionId, now.hash)).toEqual({ state: 'same' });
  });

  it('without a map of changes holds every schema of the world, a new one too', async () => {
    const { data } = await catalog.call('versions.create', { params: inRace() });
    const before = await claimed(data.version);
    await catalog.call('entitySchemas.create', { params: planted.inWorld, body: { name: 'fence' } });
    const confirmed = await confirm(before.versionId, before.hash);
    expect(confirmed).toMatchObject({ state: 'changed', definition: { schemas: { horse: {}, fence: {} } } });
    expect(await confirm()).toEqual({ state: 'same' });
  });

  it('confirms schemas and worlds in the order asked, gone ones too', async () => {
    const { id: worldId, address } = planted.world;
    const horse = { worldId, name: 'horse', hash: remembered.schemas['horse']?.hash ?? '' };
    const asked = {
      versions: [{ versionId: 999_999_999, hash: '' }],
      schemas: [{ ...horse, name: 'cat' }, horse, { ...horse, hash: 'old' }],
      worlds: [
        { worldId, hash: '' },
        { worldId: 999_999_999, hash: '' },
      ],
    };
    const { versions, schemas, worlds } = await catalog.ask('definitions.confirm', asked);
    expect(versions).toEqual([{ state: 'gone' }]);
    expect(schemas.map(({ state }) => state)).toEqual(['gone', 'same', 'changed']);
    expect(worlds).toMatchObject([
      { state: 'changed', definition: { promptSeed: 'Horses race.' } },
      { state: 'gone' },
    ]);
    const hash = worlds[0]?.state === 'changed' ? worlds[0].definition.hash : '';
    const again = { versions: [], schemas: [], worlds: [{ worldId, hash }] };
    expect((await catalog.ask('definitions.confirm', again)).worlds).toEqual([{ state: 'same' }]);
    await catalog.call('worlds.update', { params: { idOrAddress: address }, body: { promptSeed: 'Other' } });
    expect((await catalog.ask('definitions.confirm', again)).worlds[0]?.state).toBe('changed');
  });

  it('finds a version by its number, bound or not', async () => {
    const { data } = await catalog.call('versions.create', { params: inRace(), body: raceVersion });
    const { versionId } = await claimed(data.version);
    const named = { worldId: planted.world.id, event: 'race', version: data.version };
    const find = async (other: object) => catalog.ask('definitions.find', { ...named, ...other });
    expect(await find({})).toEqual({ versionId });
    for (const wrong of [{ worldId: named.worldId + 1_000_000 }, { event: 'no race' }, { version: 999 }])
      expect(await find(wrong)).toEqual({ versionId: null });
  });

  it('completes a version that is not saved as saving would, with the schemas of the world, and stores nothing', async () => {
    const worldId = planted.world.id;
    const draft = (definition: object, event = 'race') =>
      catalog.ask('definitions.draft', { worldId, event, definition });
    const before = (await catalog.call('versions.list', { params: inRace() })).pagination.total;
    const { definition } = await draft(raceVersion);
    const { data: saved } = await catalog.call('versions.create', { params: inRace(), body: raceVersion });
    const kept = await claimed(saved.version);
    const ids = { versionId: kept.versionId, eventId: kept.eventId, hash: kept.hash };
    expect({ ...definition, ...ids }).toEqual(kept);
    expect(
      (await draft({ ...raceVersion, mutationSettings: null }, 'never heard of')).definition.version,
    ).toBe(1);
    const refused = await refusalOf(
      draft({ mutationSettings: { mode: 'direct', template: { 'cow:A': {} } } }),
    );
    expect([refused.code, refused.errors[0]?.pointer]).toEqual([
      'unknown_entity_schema',
      expect.stringMatching(/^\/definition\/mutationSettings\/template/),
    ]);
    expect(
      await codeOf(
        catalog.ask('definitions.draft', { worldId: worldId + 1_000_000, event: 'race', definition: {} }),
      ),
    ).toBe('world_not_found');
    expect((await catalog.call('versions.list', { params: inRace() })).pagination.total).toBe(before + 1);
  });

  it('locks versions for a deployment, all or none, any number of times', async () => {
    const { data } = await catalog.call('versions.create', { params: inRace(), body: raceVersion });
    const second = await claimed(data.version);
    const worldId = planted.world.id;
    const versionIds = [second.versionId, remembered.versionId];
    const half = catalog.ask('definitions.lock', { worldId, versionIds: [...versionIds, 999_999_999] });
    expect(await codeOf(half)).toBe('unknown_event_version');
    expect((await claimed(1)).isLocked).toBe(false);
    const locked = await catalog.ask('definitions.lock', { worldId, versionIds });
    expect(locked.definitions.map(({ versionId, isLocked }) => [versionId, isLocked])).toEqual(
      versionIds.map((id) => [id, true]),
    );
    expect(locked.world).toMatchObject({ promptSeed: 'Horses race.' });
    expect(await catalog.ask('definitions.lock', { worldId, versionIds })).toEqual(locked);
    const other = catalog.ask('definitions.lock', { worldId: worldId + 1_000_000, versionIds });
    expect(await codeOf(other)).toBe('unknown_event');
  });
});
