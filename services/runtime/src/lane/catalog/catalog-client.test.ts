import { expect, it } from 'vitest';
import { createCatalogClient } from './catalog-client.js';

const hash = 'a'.repeat(64);
const versions = [
  { event: 'race', version: 1 },
  { event: 'walk', version: 2 },
];
const claimed = versions.map((one, index) => ({ ...one, versionId: index + 7, schemas: {}, hash }));

/** A client of a catalog that answers so, and the names of the calls that it made. */
function clientOf(answers: Record<string, unknown>) {
  const calls: string[] = [];
  const call = async ({ name }: { name: string }) => {
    calls.push(name);
    return answers[name];
  };
  const catalog = createCatalogClient({
    keep: async () => undefined,
    bus: { call } as never,
    clock: { now: () => 0, monotonic: () => 0 } as never,
    beforeConfirm: () => undefined,
  });
  return { catalog, calls };
}

it('claims and locks by a catalog of the previous release, which answers whole definitions', async () => {
  const { catalog, calls } = clientOf({
    'claims.versions': { definitions: claimed, revisions: { 7: 3 } },
    'definitions.lock': { definitions: claimed, world: { hash } },
  });
  expect(await catalog.claimVersions({ address: '0x1', worldId: 1 }, versions)).toEqual([
    { ...versions[0], id: 7, revision: 3, definition: claimed[0] },
    { ...versions[1], id: 8, revision: null, definition: claimed[1] },
  ]);
  expect((await catalog.lock(1, [7, 8])).definitions).toEqual(claimed);
  expect(calls).toEqual(['claims.versions', 'definitions.lock']);
});

it('answers claims by the names that were claimed, and refuses what is gone', async () => {
  const [, walk] = claimed;
  const { catalog } = clientOf({
    'claims.versions': { definitions: [], versionIds: [7, 8], revisions: { 8: 2 } },
    'definitions.lock': { definitions: [], world: { hash } },
    'definitions.confirm': {
      versions: [
        { state: 'changed', definition: { ...claimed[0], event: 'derby' } },
        { state: 'changed', definition: walk },
        { state: 'gone' },
      ],
      schemas: [],
      worlds: [],
    },
  });
  const claims = await catalog.claimVersions({ address: '0x1', worldId: 1 }, versions);
  expect(claims.map(({ event, id, revision }) => [event, id, revision])).toEqual([
    ['race', 7, null],
    ['walk', 8, 2],
  ]);
  await expect(catalog.lock(1, [7, 8, 9])).rejects.toMatchObject({ code: 'unknown_event_version' });
});

it('releases no claim without its revision, and none but those named', async () => {
  const sent: unknown[] = [];
  const call = async (_rpc: unknown, request: unknown) => sent.push(request);
  const catalog = createCatalogClient({
    keep: async () => undefined,
    bus: { call } as never,
    clock: { now: () => 0, monotonic: () => 0 } as never,
    beforeConfirm: () => undefined,
  });
  await catalog.release('0x1', { versions: [{ id: 1, revision: null }] });
  await catalog.release('0x2', { schemas: [] });
  await catalog.release('0x3', { schemas: [{ id: 1, revision: 4 }] });
  await catalog.release('0x4');
  expect(sent).toEqual([
    { deployment: '0x3', schemas: [{ id: 1, revision: 4 }], versions: [] },
    { deployment: '0x4' },
  ]);
});
