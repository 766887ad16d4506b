import { beforeAll, describe, expect, it } from 'vitest';
import {
  bootCatalog,
  codeOf,
  deploymentAddress,
  plantWorld,
  type RunningTestCatalog,
  raceVersion,
  unique,
} from './running-catalog.js';

const settled = async (promises: Promise<unknown>[]) =>
  (await Promise.allSettled(promises)).map((outcome) =>
    outcome.status === 'fulfilled' ? 'ok' : (outcome.reason as { code: string }).code,
  );
const times = <T>(count: number, make: (index: number) => T): T[] =>
  Array.from({ length: count }, (_, index) => make(index));

describe('races', () => {
  let catalog: RunningTestCatalog;
  let planted: Awaited<ReturnType<typeof plantWorld>>;
  beforeAll(async () => {
    catalog = await bootCatalog();
    planted = await plantWorld(catalog);
  });
  const newEvent = async () => {
    const name = unique('event');
    await catalog.call('events.create', {
      params: planted.inWorld,
      body: { name, firstVersion: raceVersion },
    });
    return { ...planted.inWorld, eventName: name };
  };

  it('twenty creations at once get twenty numbers', async () => {
    const params = await newEvent();
    const created = await Promise.all(
      times(20, () => catalog.call('versions.create', { params, body: raceVersion })),
    );
    const numbers = created.map(({ data }) => data.version).sort((a, b) => a - b);
    expect(numbers).toEqual(times(20, (index) => index + 2));
  });

  it('no number comes back while versions are created and deleted', async () => {
    const params = await newEvent();
    const seen = new Set<number>([1]);
    const churn = async () => {
      const { version } = (await catalog.call('versions.create', { params })).data;
      expect(seen.has(version)).toBe(false);
      seen.add(version);
      await catalog.call('versions.delete', { params: { ...params, version: String(version) } });
    };
    await Promise.all(
      times(4, async () => {
        for (let turn = 0; turn < 5; turn++) await churn();
      }),
    );
    expect((await catalog.call('events.get', { params })).data.latestVersion).toBe(1);
  });

  it('a lock and updates at once: what is locked is what the lock answered', async () => {
    for (let round = 0; round < 10; round++) {
      const params = { ...(await newEvent()), version: '1' };
      const update = (turn: number) =>
        catalog.call('versions.update', { params, body: { behaviorPrompt: `text ${turn}` } });
      const [locked, ...updates] = await Promise.allSettled([
        catalog.call('versions.lock', { params }),
        ...times(4, update),
      ]);
      for (const outcome of updates)
        if (outcome.status === 'rejected') expect(outcome.reason.code).toBe('version_locked');
      const now = (await catalog.call('versions.get', { params })).data;
      expect(locked).toMatchObject({ status: 'fulfilled', value: { data: now } });
    }
  });

  it('a lock and a change of its schema at once: the copy is one state or the other, and hashed as such', async () => {
    for (let round = 0; round < 10; round++) {
      const params = { ...(await newEvent()), version: '1' };
      const body = { name: unique('attribute'), type: 'float' };
      await Promise.all([
        catalog.call('versions.lock', { params }),
        catalog.call('attributes.create', { params: { ...planted.inWorld, schemaName: 'horse' }, body }),
      ]);
      const claim = { worldId: planted.world.id, deployment: deploymentAddress() };
      const { definitions } = await catalog.ask('claims.versions', {
        ...claim,
        versions: [{ event: params.eventName, version: 1 }],
      });
      const { data } = await catalog.call('versions.get', { params });
      expect(definitions[0]).toMatchObject({ isLocked: true, versionHash: data.versionHash });
    }
  });

  it('a deletion and a claim at once: either the version stays or the claim is refused', async () => {
    const outcomes: string[] = [];
    for (let round = 0; round < 20; round++) {
      const params = await newEvent();
      const claim = { worldId: planted.world.id, deployment: deploymentAddress() };
      const outcome = await settled([
        catalog.call('versions.delete', { params: { ...params, version: '1' } }),
        catalog.ask('claims.versions', { ...claim, versions: [{ event: params.eventName, version: 1 }] }),
      ]);
      expect(['ok,unknown_event_version', 'event_version_in_use,ok']).toContain(outcome.join());
      outcomes.push(outcome.join());
    }
    expect(outcomes).toHaveLength(20);
  });

  it('the deletion or renaming of an event and a claim at once', async () => {
    for (let round = 0; round < 20; round++) {
      const params = await newEvent();
      const claim = { worldId: planted.world.id, deployment: deploymentAddress() };
      const change =
        round % 2 === 0
          ? catalog.call('events.delete', { params })
          : catalog.call('events.update', { params, body: { name: unique('renamed') } });
      const outcome = await settled([
        change,
        catalog.ask('claims.versions', { ...claim, versions: [{ event: params.eventName, version: 1 }] }),
      ]);
      expect(['ok,unknown_event', 'event_in_use,ok']).toContain(outcome.join());
    }
  });

  it('the deletion or renaming of a schema, a claim and a version that names it at once', async () => {
    for (let round = 0; round < 20; round++) {
      const schemaName = unique('schema');
      await catalog.call('entitySchemas.create', { params: planted.inWorld, body: { name: schemaName } });
      const params = { ...planted.inWorld, schemaName };
      const claim = { worldId: planted.world.id, deployment: deploymentAddress() };
      const change =
        round % 2 === 0
          ? catalog.call('entitySchemas.delete', { params })
          : catalog.call('entitySchemas.update', { params, body: { name: unique('renamed') } });
      const use =
        round % 4 < 2
          ? catalog.ask('claims.schemas', { ...claim, schemas: [schemaName] })
          : catalog.call('versions.create', {
              params: { ...planted.inWorld, eventName: 'race' },
              body: { readEntities: [{ schema: schemaName }] },
            });
      const outcome = await settled([change, use]);
      expect(['ok,unknown_entity_schema', 'entity_schema_in_use,ok']).toContain(outcome.join());
    }
  });

  it('the deletion of a world and the claim of a deployment at once', async () => {
    for (let round = 0; round < 20; round++) {
      const { data: world } = await catalog.call('worlds.create', { body: { name: unique('world') } });
      const outcome = await settled([
        catalog.call('worlds.delete', { params: { idOrAddress: world.address } }),
        catalog.ask('claims.world', { world: world.address, deployment: deploymentAddress() }),
      ]);
      expect(['ok,world_not_found', 'world_in_use,ok']).toContain(outcome.join());
    }
  });

  it('everything in a world changing while the world goes ends without a 5xx', async () => {
    for (let round = 0; round < 5; round++) {
      const { inWorld, world } = await plantWorld(catalog);
      const version = { ...inWorld, eventName: 'race', version: '1' };
      const horse = { ...inWorld, schemaName: 'horse' };
      const codes = await settled([
        catalog.call('versions.create', { params: { ...inWorld, eventName: 'race' }, body: raceVersion }),
        catalog.call('versions.update', { params: version, body: { behaviorPrompt: 'x' } }),
        catalog.call('attributes.create', { params: horse, body: { name: 'a', type: 'json' } }),
        catalog.call('worlds.delete', { params: { idOrAddress: world.address } }),
        catalog.call('versions.lock', { params: version }),
        catalog.call('entitySchemas.create', { params: inWorld, body: { name: 'extra' } }),
        catalog.call('events.update', { params: { ...inWorld, eventName: 'race' }, body: { name: 'dash' } }),
      ]);
      for (const code of codes)
        expect(['ok', 'world_not_found', 'event_not_found', 'version_locked']).toContain(code);
    }
  });

  it('creations of one name at once: one wins', async () => {
    const name = unique('schema');
    const outcomes = await settled(
      times(8, () => catalog.call('entitySchemas.create', { params: planted.inWorld, body: { name } })),
    );
    expect(outcomes.filter((outcome) => outcome === 'ok')).toHaveLength(1);
    expect(new Set(outcomes)).toEqual(new Set(['ok', 'entity_schema_exists']));
  });

  it('creations with one key at once: one is made, all answer it', async () => {
    const headers = { 'idempotency-key': unique('key') };
    const body = { name: unique('world') };
    const answers = await Promise.all(times(8, () => catalog.call('worlds.create', { headers, body })));
    expect(new Set(answers.map(({ data }) => data.id)).size).toBe(1);
  });

  it('limits hold under concurrent creation', async () => {
    const small = await bootCatalog({
      limits: {
        schemasPerWorld: 3,
        attributesPerSchema: 3,
        eventsPerWorld: 3,
        versionsPerEvent: 3,
        schemaBytes: 10_000,
        versionBytes: 10_000,
        worldSchemaBytes: 12_000,
      },
    });
    const { inWorld } = await plantWorld(small);
    const outcomes = [
      await settled(
        times(6, (i) => small.call('entitySchemas.create', { params: inWorld, body: { name: `s${i}` } })),
      ),
      await settled(
        times(6, (i) =>
          small.call('events.create', { params: inWorld, body: { name: `e${i}`, firstVersion: {} } }),
        ),
      ),
      await settled(
        times(6, () => small.call('versions.create', { params: { ...inWorld, eventName: 'race' } })),
      ),
    ];
    for (const codes of outcomes)
      expect(codes.sort()).toEqual([...times(4, () => 'limit_reached'), 'ok', 'ok']);
    const params = { ...inWorld, schemaName: 'horse' };
    await small.call('attributes.create', { params, body: { name: 'third', type: 'json' } });
    const fourth = small.call('attributes.create', { params, body: { name: 'fourth', type: 'json' } });
    expect(await codeOf(fourth)).toBe('limit_reached');
    const renamed = small.call('attributes.update', {
      params: { ...params, name: 'third' },
      body: { name: '3rd' },
    });
    expect((await renamed).data.name).toBe('3rd');
    const big = { name: 'big', type: 'string', defaultValue: 'x'.repeat(10_000) };
    await small.call('attributes.delete', { params: { ...params, name: '3rd' } });
    expect(await codeOf(small.call('attributes.create', { params, body: big }))).toBe('validation_failed');
  });
});
