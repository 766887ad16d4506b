import { expect, it } from 'vitest';
import { createCatalogClient } from './catalog-client.js';

const hash = 'a'.repeat(64);
const versions = [
  { event: 'race', version: 1 },
  { event: 'walk', version: 2 },
];
const content = {
  worldId: 1,
  eventId: 1,
  isLocked: false,
  versionHash: hash,
  inputSchema: null,
  outputSchema: null,
  readEntities: [],
  stateChanges: null,
  behaviorPrompt: null,
  mutationSettings: null,
  executionSettings: null,
  guards: null,
};
const claimed = versions.map((one, index) => ({
  ...content,
  ...one,
  versionId: index + 7,
  schemas: {},
  hash,
}));
const bound = claimed.map(({ event, version, versionId }) => ({ event, eventVersion: version, versionId }));
const [race = { event: '', eventVersion: 0, versionId: 0 }] = bound;

const changed = (...definitions: object[]) => ({
  versions: definitions.map((definition) => ({ state: 'changed', definition })),
  schemas: [],
  worlds: [],
});

/** A client of a catalog that answers so, and the names of the calls that it made. */
function clientOf(answers: Record<string, unknown>) {
  const calls: string[] = [];
  const call = async ({ name }: { name: string }) => {
    calls.push(name);
    return answers[name];
  };
  const catalog = createCatalogClient({
    keep: async () => undefined,
    findKept: async () => undefined,
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
    'definitions.confirm': changed(...claimed),
  });
  expect(await catalog.claimVersions({ address: '0x1', worldId: 1 }, versions)).toEqual([
    { ...versions[0], id: 7, revision: 3, definition: claimed[0] },
    { ...versions[1], id: 8, revision: null, definition: claimed[1] },
  ]);
  expect((await catalog.lock(1, bound)).definitions).toEqual(claimed);
  expect(calls).toEqual(['claims.versions', 'definitions.confirm', 'definitions.lock']);
});

it('answers claims by the names that were claimed, and locks nothing where something is gone', async () => {
  const [, walk] = claimed;
  const { catalog, calls } = clientOf({
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
  const gone = { event: 'gone', eventVersion: 1, versionId: 9 };
  await expect(catalog.lock(1, [...bound, gone])).rejects.toMatchObject({ code: 'unknown_event_version' });
  expect(calls).not.toContain('definitions.lock');
});

it.each([
  ['of another world', { worldId: 2 }],
  ['of another event', { event: 'walk' }],
  ['with another number', { version: 2 }],
])('a bound version is gone where its id is that of a version %s', async (_what, other) => {
  const answers = { 'definitions.confirm': changed({ ...claimed[0], isLocked: true }) };
  const { catalog, calls } = clientOf(answers);
  const before = await catalog.version(1, race);
  expect(await catalog.version(1, race)).toBe(before);
  expect(calls).toHaveLength(1);
  const { worldId, ...theirs } = { worldId: 1, event: 'race', version: 1, ...other };
  answers['definitions.confirm'] = changed({ ...claimed[0], ...other, isLocked: true });
  const asTheirs = { event: theirs.event, eventVersion: theirs.version, versionId: 7 };
  expect((await catalog.version(worldId, asTheirs))?.definition).toMatchObject(other);
  expect(await catalog.version(1, race)).toBeUndefined();
  expect(calls).toHaveLength(3);
});

it('releases no claim without its revision, and none but those named', async () => {
  const sent: unknown[] = [];
  const call = async (_rpc: unknown, request: unknown) => sent.push(request);
  const catalog = createCatalogClient({
    keep: async () => undefined,
    findKept: async () => undefined,
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
