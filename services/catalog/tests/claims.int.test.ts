import { beforeEach, describe, expect, it } from 'vitest';
import {
  bootCatalog,
  codeOf,
  deploymentAddress,
  OTHER,
  plantWorld,
  type RunningTestCatalog,
  refusalOf,
} from './running-catalog.js';

const GRACE_MS = 600_000;
type Held = { exists: boolean; versionIds: number[]; schemaIds: number[] };
type Asked = { deployment: string; versionIds: number[]; schemaIds: number[] };

/** The runtime's part, as a test sets it. */
const owner = {
  answer: async (_asked: Asked): Promise<Held> => ({ exists: true, versionIds: [], schemaIds: [] }),
  asked: [] as Asked[],
};

describe('claims', () => {
  let catalog: RunningTestCatalog;
  let planted: Awaited<ReturnType<typeof plantWorld>>;
  let deployment: string;
  beforeEach(async () => {
    catalog ??= await bootCatalog({
      claimGraceMs: GRACE_MS,
      askHeld: (asked) => {
        owner.asked.push(asked);
        return owner.answer(asked);
      },
    });
    planted = await plantWorld(catalog);
    deployment = deploymentAddress();
    owner.asked = [];
  });
  const claimAll = async () => {
    const { id: worldId, address: world } = planted.world;
    await catalog.ask('claims.world', { world, deployment });
    const { definitions: versions, ...ofVersions } = await catalog.ask('claims.versions', {
      worldId,
      deployment,
      versions: [{ event: 'race', version: 1 }],
    });
    const { definitions: schemas, ...ofSchemas } = await catalog.ask('claims.schemas', {
      worldId,
      deployment,
      schemas: ['horse'],
    });
    const versionId = versions[0]?.versionId ?? 0;
    const schemaId = schemas[0]?.schemaId ?? 0;
    const made = {
      versions: [{ id: versionId, revision: ofVersions.revisions?.[versionId] ?? 0 }],
      schemas: [{ id: schemaId, revision: ofSchemas.revisions?.[schemaId] ?? 0 }],
    };
    return { versionId, schemaId, made };
  };
  const claims = async () =>
    (
      await catalog.db
        .selectFrom('claims')
        .select('kind')
        .where('deployment', '=', deployment)
        .orderBy('kind')
        .execute()
    ).map(({ kind }) => kind);
  const sweepLater = async () => {
    await catalog.clock.advance(GRACE_MS + 1);
    await catalog.sweeps.claims.runOnce();
  };

  it('claims a world for its owner alone', async () => {
    const { address: world, id } = planted.world;
    expect(await codeOf(catalog.ask('claims.world', { world, deployment }, OTHER))).toBe('world_not_found');
    await catalog.call('worlds.publish', { params: { idOrAddress: world } });
    expect(await codeOf(catalog.ask('claims.world', { world, deployment }, OTHER))).toBe('forbidden');
    expect(await catalog.ask('claims.world', { world: String(id), deployment })).toEqual({
      worldId: id,
      worldAddress: world,
    });
    const path = { params: { idOrAddress: world } };
    expect(await codeOf(catalog.call('worlds.delete', path))).toBe('world_in_use');
    await catalog.ask('claims.release', { deployment });
    await catalog.call('worlds.delete', path);
  });

  it('answers definitions in the order asked, twice the same', async () => {
    const { id: worldId } = planted.world;
    await catalog.call('versions.create', { params: { ...planted.inWorld, eventName: 'race' } });
    const versions = [2, 1, 2].map((version) => ({ event: 'race', version }));
    const first = await catalog.ask('claims.versions', { worldId, deployment, versions });
    expect(first.definitions.map(({ version }) => version)).toEqual([2, 1, 2]);
    const again = await catalog.ask('claims.versions', { worldId, deployment, versions });
    expect(again.definitions).toEqual(first.definitions);
    const schemas = Object.keys(first.definitions[1]?.schemas ?? {});
    expect(schemas).toEqual(['horse']);
  });

  it('points at each name that is not there', async () => {
    const { id: worldId } = planted.world;
    const unknown = async (versions: { event: string; version: number }[]) => {
      const { code, errors } = await refusalOf(
        catalog.ask('claims.versions', { worldId, deployment, versions }),
      );
      return [code, ...errors.map(({ pointer }) => pointer)];
    };
    const race = { event: 'race', version: 1 };
    expect(await unknown([race, { event: 'walk', version: 1 }])).toEqual(['unknown_event', '/1/event']);
    expect(
      await unknown([{ event: 'race', version: 9_007_199_254_740_991 }, race, { event: 'race', version: 3 }]),
    ).toEqual(['unknown_event_version', '/0/eventVersion', '/2/eventVersion']);
    const schemas = catalog.ask('claims.schemas', { worldId, deployment, schemas: ['horse', 'cat'] });
    expect(await codeOf(schemas)).toBe('unknown_entity_schema');
    expect(await claims()).toEqual([]);
  });

  it('sweeps only what is older than the grace', async () => {
    await claimAll();
    await catalog.sweeps.claims.runOnce();
    expect(owner.asked.filter((asked) => asked.deployment === deployment)).toEqual([]);
    expect(await claims()).toEqual(['schema', 'version', 'world']);
  });

  it('releases what is no longer held and keeps what is', async () => {
    const { versionId, schemaId } = await claimAll();
    owner.answer = async () => ({ exists: true, versionIds: [versionId], schemaIds: [] });
    await sweepLater();
    expect(owner.asked).toContainEqual({ deployment, versionIds: [versionId], schemaIds: [schemaId] });
    expect(await claims()).toEqual(['version', 'world']);
    owner.answer = async () => ({ exists: false, versionIds: [], schemaIds: [] });
    await sweepLater();
    expect(await claims()).toEqual([]);
    await catalog.call('worlds.delete', { params: { idOrAddress: planted.world.address } });
  });

  it('are released by their revisions, so a late release removes no claim that was made since', async () => {
    const { made: first } = await claimAll();
    const { made: second } = await claimAll();
    const release = async (given: object) =>
      (await catalog.ask('claims.release', { deployment, ...given })).released;
    expect(await release(first)).toBe(0);
    const race = { params: { ...planted.inWorld, eventName: 'race', version: '1' } };
    expect(await codeOf(catalog.call('versions.delete', race))).toBe('event_version_in_use');
    expect(await release(second)).toBe(2);
    await claimAll();
    expect(await release(second)).toBe(0);
    expect(await claims()).toEqual(['schema', 'version', 'world']);
    expect(await codeOf(catalog.call('versions.delete', race))).toBe('event_version_in_use');
  });

  it('keeps a claim that was released and made anew while its owner was asked', async () => {
    const { made } = await claimAll();
    owner.answer = async () => {
      await catalog.ask('claims.release', { deployment, ...made });
      await claimAll();
      return { exists: true, versionIds: [], schemaIds: [] };
    };
    await sweepLater();
    expect(await claims()).toEqual(['schema', 'version', 'world']);
  });

  it('keeps a claim that was made anew while its owner was asked', async () => {
    await claimAll();
    owner.answer = async () => {
      await claimAll();
      return { exists: true, versionIds: [], schemaIds: [] };
    };
    await sweepLater();
    expect(await claims()).toEqual(['schema', 'version', 'world']);
  });

  it('keeps all claims of an owner that does not answer, and asks again after the grace', async () => {
    await claimAll();
    owner.answer = async () => {
      throw new Error('away');
    };
    await sweepLater();
    expect(await claims()).toHaveLength(3);
    owner.answer = async () => ({ exists: false, versionIds: [], schemaIds: [] });
    await catalog.sweeps.claims.runOnce();
    expect(await claims()).toHaveLength(3);
    await sweepLater();
    expect(await claims()).toEqual([]);
  });
});
