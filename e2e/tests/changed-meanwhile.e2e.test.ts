import type { System } from '@orrery/testing/system';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ApiClient, apiClient } from '../src/api/api-client.js';
import { startSystem } from '../src/starting/start-system.js';
import { counting, makeWorld } from '../src/worlds/make-world.js';

let system: System;
let api: ApiClient;
let paths: Record<string, string>;
beforeAll(async () => {
  system = await startSystem();
  api = apiClient(system.url, system.key);
  const firstVersion = {
    stateChanges: { horse: 'partial' },
    mutationSettings: { mode: 'direct', template: {} },
  };
  const world = await makeWorld(api, {
    name: 'Derby',
    schemas: [counting('horse', 'wins')],
    events: [{ name: 'run', firstVersion }],
  });
  const deployment = await world.deploy({});
  const event = `${world.path}/events/run`;
  const schema = `${world.path}/entity-schemas/horse`;
  paths = {
    world: world.path,
    schema,
    attribute: `${schema}/attributes/wins`,
    event,
    version: `${event}/event-versions/1`,
    deployment: deployment.path,
  };
});
afterAll(() => system?.[Symbol.asyncDispose]());

it.each([
  ['world', (text: string) => ({ description: text })],
  ['schema', (text: string) => ({ description: text })],
  ['attribute', (text: string) => ({ defaultValue: text.length })],
  ['event', (text: string) => ({ description: text })],
  ['version', (text: string) => ({ behaviorPrompt: text })],
  ['deployment', (text: string) => ({ description: text })],
])('a change of a %s is refused where another one came first', async (kind, change) => {
  const path = paths[kind] ?? '';
  const tag = async () => (await api.get(path)).headers.get('etag') ?? '';
  const known = await tag();
  expect(known).toMatch(/^"[0-9a-f]{32}"$/);
  const first = await api.put(path, change('first'), { 'if-match': known });
  expect(first.status).toBe(200);
  expect(first.headers.get('etag')).toBe(await tag());
  const second = await api.put(path, change('the second'), { 'if-match': known });
  expect(second).toMatchObject({ status: 412, body: { code: 'revision_mismatch' } });
  expect((await api.get(path)).body.data).toMatchObject(first.body.data);
  expect((await api.put(path, change('the second'), { 'if-match': await tag() })).status).toBe(200);
  expect((await api.put(path, change('whatever is there'))).status).toBe(200);
});
