import { createTestDatabase, type TestDatabase } from '@orrery/testing';
import type { System } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiClient, apiClient, created } from '../src/api/api-client.js';
import { findViolations } from '../src/invariants/find-violations.js';
import { verifyWhole } from '../src/load/verify-whole.js';
import { failedInTheRun, refusedBeforeTheRun } from '../src/refusals/failing-executions.js';
import { type RefusalPaths, refusalWorld } from '../src/refusals/refusal-world.js';
import { refusedRequests } from '../src/refusals/refused-requests.js';
import { startSystem } from '../src/starting/start-system.js';

let database: TestDatabase;
let system: System;
let api: ApiClient;
let paths: RefusalPaths;
beforeAll(async () => {
  database = await createTestDatabase();
  system = await startSystem(database.url, { RATE_LIMITS: 'false' });
  api = apiClient(system.url, system.key);
  paths = await refusalWorld(api);
  const full = { entitySchema: 'horse', instanceId: 'full', state: { wins: Number.MAX_SAFE_INTEGER } };
  created(await api.post(`${paths.deployment}/entity-instances`, full));
});
afterAll(async () => {
  await system?.[Symbol.asyncDispose]();
  await database?.drop();
});

/** Everything that could have changed, and the newest entry. */
async function observe() {
  const { deployment } = paths;
  const parts = ['', '/entity-instances?limit=100', '/event-bindings', '/history?include=all&limit=1'];
  const [record, instances, bindings, history] = await Promise.all(
    parts.map((part) => api.get(`${deployment}${part}`)),
  );
  return {
    things: JSON.stringify([record?.body.data, instances?.body.data, bindings?.body.data]),
    entries: history?.body.pagination.total as number,
    newest: history?.body.data[0],
  };
}

describe('an execution that fails from read on', () => {
  it.each(failedInTheRun)('%s', async (_, event, input, status, code) => {
    const before = await observe();
    const dry = await api.post(`${paths.deployment}/execute?dryRun=true`, { event, input });
    expect(dry, JSON.stringify(dry.body)).toMatchObject({ status, body: { success: false, code } });
    expect((await observe()).entries).toBe(before.entries);

    const answer = await api.post(`${paths.deployment}/execute`, { event, input });
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status, body: { success: false, code } });
    const after = await observe();
    expect(after.things).toBe(before.things);
    expect(after.entries).toBe(before.entries + 1);
    expect(after.newest).toMatchObject({
      kind: 'execution',
      event,
      input,
      status: 'failed',
      changes: [],
      stateChanges: {},
      result: null,
      error: { code, detail: expect.stringMatching(/./) },
    });
  });
});

describe('an execution that is refused before read leaves no entry', () => {
  it.each(refusedBeforeTheRun)('%s', async (_, event, input, status, code) => {
    const before = await observe();
    for (const query of ['', '?dryRun=true']) {
      const answer = await api.post(`${paths.deployment}/execute${query}`, { event, input });
      expect(answer, JSON.stringify(answer.body)).toMatchObject({ status, body: { success: false, code } });
    }
    expect(await observe()).toEqual(before);
  });
});

describe('a request that breaks a rule changes nothing', () => {
  it.each(refusedRequests.map((row) => [row.what, row] as const))('%s', async (_, row) => {
    const before = await observe();
    const body = row.body === undefined ? undefined : JSON.stringify(row.body);
    const answer = await api.raw(row.method, row.pathIn(paths), body, row.headers);
    expect(answer, JSON.stringify(answer.body)).toMatchObject({
      status: row.status,
      body: { success: false, code: row.code, status: row.status },
    });
    if (row.pointer !== undefined) expect(answer.body.errors[0].pointer).toBe(row.pointer);
    expect(await observe()).toEqual(before);
  });

  it.each([
    ['is no JSON', '{"event":', 400, 'invalid_json'],
    ['holds __proto__', '{"event":"fine","input":{"__proto__":{}}}', 400, 'validation_failed'],
    ['holds constructor', '{"event":"fine","input":{"constructor":1}}', 400, 'validation_failed'],
    ['holds 1e400', '{"event":"fine","input":{"id":"A","by":1e400}}', 400, 'validation_failed'],
    ['holds U+0000', '{"event":"fine","input":{"id":"\\u0000","by":1}}', 400, 'validation_failed'],
    [
      'holds half a surrogate pair',
      '{"event":"fine","input":{"id":"\\ud800","by":1}}',
      400,
      'validation_failed',
    ],
    [
      'nests too deeply',
      `{"event":"fine","input":${'{"a":'.repeat(33)}1${'}'.repeat(33)}}`,
      400,
      'validation_failed',
    ],
    ['is too large', `{"event":"fine","input":{"a":"${'x'.repeat(1_050_000)}"}}`, 413, 'body_too_large'],
  ])('a body that %s', async (_, body, status, code) => {
    const before = await observe();
    const answer = await api.raw('POST', `${paths.deployment}/execute`, body);
    expect(answer).toMatchObject({ status, body: { success: false, code } });
    expect(await observe()).toEqual(before);
  });
});

describe('what forbids executions or changes', () => {
  const fine = { event: 'fine', input: { id: 'A', by: 1 } };

  it('a deployment of another world is not found', async () => {
    const world = `/worlds/${created(await api.post('/worlds', { name: 'Other' })).address}`;
    const wrong = `${world}/deployments/${paths.deployment.split('/').at(-1)}`;
    for (const answer of [await api.get(wrong), await api.post(`${wrong}/execute`, fine)])
      expect(answer).toMatchObject({ status: 404, body: { code: 'deployment_not_found' } });
  });

  it('a key that comes again with another body', async () => {
    const key = { 'idempotency-key': 'k1' };
    const first = await api.post(`${paths.deployment}/execute`, fine, key);
    expect(first.status).toBe(200);
    const before = await observe();
    const other = { ...fine, input: { id: 'A', by: 2 } };
    expect(await api.post(`${paths.deployment}/execute`, other, key)).toMatchObject({
      status: 422,
      body: { code: 'idempotency_key_reused' },
    });
    const again = await api.post(`${paths.deployment}/execute`, fine, { 'idempotency-key': '"k1"' });
    expect(again.body).toEqual(first.body);
    expect(await observe()).toEqual(before);
  });

  it('10,000 instances are not read without a filter', async () => {
    const { deployment } = paths;
    for (let block = 0; block < 20; block += 1) {
      const filled = await api.post(`${deployment}/execute`, { event: 'fill', input: { id: `b${block}` } });
      expect(filled.status, JSON.stringify(filled.body)).toBe(200);
    }
    const before = await observe();
    expect(await api.post(`${deployment}/execute`, { event: 'readAll' })).toMatchObject({
      status: 409,
      body: { code: 'read_set_too_large' },
    });
    const after = await observe();
    expect(after.entries).toBe(before.entries + 1);
    expect(after.newest).toMatchObject({ status: 'failed', error: { code: 'read_set_too_large' } });
  });

  it('a pause', async () => {
    const { deployment } = paths;
    await api.post(`${deployment}/pause`);
    const before = await observe();
    expect(await api.post(`${deployment}/execute`, fine)).toMatchObject({
      status: 409,
      body: { code: 'deployment_paused' },
    });
    expect(await observe()).toEqual(before);
    await api.post(`${deployment}/resume`);
    expect((await api.post(`${deployment}/execute`, fine)).status).toBe(200);
  });

  it('a lock', async () => {
    const { deployment } = paths;
    expect((await api.post(`${deployment}/lock`)).body.data).toMatchObject({ mode: 'locked' });
    const before = await observe();
    const instances = `${deployment}/entity-instances`;
    const bindings = `${deployment}/event-bindings`;
    for (const answer of [
      await api.post(instances, { entitySchema: 'horse', instanceId: 'late' }),
      await api.put(`${instances}/A`, { state: { name: 'x' } }),
      await api.delete(`${instances}/A`),
      await api.post(bindings, [{ event: 'unbound', eventVersion: 1 }]),
      await api.put(bindings, [{ event: 'fine', eventVersion: 1 }]),
      await api.delete(`${bindings}?event=fine`),
      await api.delete(deployment),
    ]) {
      expect(answer).toMatchObject({ status: 409, body: { code: 'deployment_locked' } });
    }
    expect(await observe()).toEqual(before);
    expect((await api.post(`${deployment}/execute`, fine)).status).toBe(200);
  });

  it('what has been deleted', async () => {
    const { address } = created(await api.post(`${paths.world}/deployments`, { name: 'Gone', bindings: [] }));
    const gone = `${paths.world}/deployments/${address}`;
    expect((await api.delete(gone)).body.data).toEqual({ deleted: true });
    for (const answer of [
      await api.get(gone),
      await api.get(`${gone}/history`),
      await api.post(`${gone}/execute`, fine),
      await api.post(`${gone}/publish`),
      await api.delete(gone),
    ]) {
      expect(answer).toMatchObject({ status: 404, body: { code: 'deployment_not_found' } });
    }
  });

  it('leaves the journal whole', async () => {
    expect(await findViolations(database.url)).toEqual([]);
    expect(await verifyWhole(api, paths.deployment)).toMatchObject({ valid: true });
  });
});
