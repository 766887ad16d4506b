import type { SchemaDefinition } from '@orrery/contracts';
import { beforeAll, describe, expect, it } from 'vitest';
import { bootCatalog, deploymentAddress, type RunningTestCatalog, unique } from './running-catalog.js';

const KIB = 1024;
/** The bus carries 32 MiB. These schemas have 3 MiB, so that they fit into a reply ten times. */
const SCHEMAS = 12;
const SCHEMA_BYTES = 250 * KIB;
const EVENTS = 12;
/** What a reply may have beyond its first definition. */
const MOST_BYTES = 8 * KIB * KIB;

describe('definitions with large schemas', () => {
  let catalog: RunningTestCatalog;
  beforeAll(async () => {
    catalog = await bootCatalog();
  });
  /** A world whose events run with all its schemas, and its claimed versions. */
  const plantLarge = async (events = EVENTS) => {
    const { data: world } = await catalog.call('worlds.create', { body: { name: unique('Large') } });
    const params = { worldAddress: world.address };
    for (let index = 0; index < SCHEMAS; index += 1)
      await catalog.call('entitySchemas.create', { params, body: largeSchema(`schema ${index}`) });
    const names = Array.from({ length: events }, (_, index) => `event ${index}`);
    for (const name of names)
      await catalog.call('events.create', { params, body: { name, firstVersion: {} } });
    const versions = names.map((event) => ({ event, version: 1 }));
    const claim = { worldId: world.id, deployment: deploymentAddress(), versions, withoutDefinitions: true };
    const { versionIds = [], definitions, revisions } = await catalog.ask('claims.versions', claim);
    expect([versionIds.length, definitions.length]).toEqual([events, 0]);
    expect(Object.keys(revisions)).toHaveLength(events);
    return { worldId: world.id, versionIds };
  };
  const ask = (versionIds: readonly number[]) =>
    catalog.ask('definitions.confirm', {
      versions: versionIds.map((versionId) => ({ versionId, hash: '' })),
      schemas: [],
      worlds: [],
      sharing: true,
    });

  it('claims, locks and reads versions of one world, whose schemas a reply has once', async () => {
    const { worldId, versionIds } = await plantLarge();
    const { versions, sharedSchemas = [] } = await ask(versionIds);
    expect(sharedSchemas.map(({ name }) => name)).toEqual(
      Array.from({ length: SCHEMAS }, (_, index) => `schema ${index}`),
    );
    const all = sharedSchemas.map((_, place) => place);
    expect(versions).toMatchObject(
      versionIds.map((versionId) => ({ state: 'shared', definition: { versionId, schemas: all } })),
    );
    const lock = { worldId, versionIds, withoutDefinitions: true };
    expect(await catalog.ask('definitions.lock', lock)).toMatchObject({ definitions: [], world: {} });
    const locked = await ask(versionIds);
    expect(locked.sharedSchemas).toEqual(sharedSchemas);
    expect(locked.versions).toMatchObject(versionIds.map(() => ({ definition: { isLocked: true } })));
  });

  it('leaves for later what has no room beside the definitions of others', async () => {
    const worlds = [await plantLarge(1), await plantLarge(1), await plantLarge(1)];
    const read: number[] = [];
    const replies: number[] = [];
    for (let left = worlds.flatMap(({ versionIds }) => versionIds); left.length > 0; ) {
      const { versions, sharedSchemas = [] } = await ask(left);
      replies.push(bytesOf(sharedSchemas));
      read.push(...left.filter((_, index) => versions[index]?.state === 'shared'));
      left = left.filter((_, index) => versions[index]?.state === 'later');
    }
    expect(read).toEqual(worlds.flatMap(({ versionIds }) => versionIds));
    expect(replies).toHaveLength(2);
    expect(Math.max(...replies)).toBeLessThan(MOST_BYTES);
  });

  it('leaves schemas for later, and answers them when they are asked for again', async () => {
    const { worldId } = await plantLarge(1);
    const name = (index: number) => `schema ${index % SCHEMAS}`;
    const schemas = Array.from({ length: 40 }, (_, index) => ({ worldId, name: name(index), hash: '' }));
    const asked = { versions: [], worlds: [], sharing: true };
    const first = (await catalog.ask('definitions.confirm', { ...asked, schemas })).schemas;
    const left = schemas.filter((_, index) => first[index]?.state === 'later');
    expect(left).toHaveLength(schemas.length - Math.floor(MOST_BYTES / (SCHEMA_BYTES + KIB)));
    const again = (await catalog.ask('definitions.confirm', { ...asked, schemas: left })).schemas;
    expect(again.map(({ state }) => state)).toEqual(left.map(() => 'changed'));
  });

  it('answers whole definitions to who does not ask for less', async () => {
    const { versionIds } = await plantLarge(2);
    const versions = versionIds.map((versionId) => ({ versionId, hash: '' }));
    const reply = await catalog.ask('definitions.confirm', { versions, schemas: [], worlds: [] });
    expect(reply).not.toHaveProperty('sharedSchemas');
    expect(reply.versions.map(({ state }) => state)).toEqual(['changed', 'changed']);
    const [first] = reply.versions;
    expect(first?.state === 'changed' && Object.keys(first.definition.schemas)).toHaveLength(SCHEMAS);
  });
});

const largeSchema = (name: string) => ({
  name,
  attributes: [{ name: 'note', type: 'string', defaultValue: 'x'.repeat(SCHEMA_BYTES) }],
});

const bytesOf = (schemas: readonly SchemaDefinition[]): number => JSON.stringify(schemas).length;
