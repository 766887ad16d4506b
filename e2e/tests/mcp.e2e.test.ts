import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { Resources } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { says, startModelServer } from '@orrery/testing/model-server';
import { temporaryFolder } from '@orrery/testing/servers';
import type { System } from '@orrery/testing/system';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { SECRET } from '../src/access/world-paths.js';
import { type ApiClient, apiClient, created } from '../src/api/api-client.js';
import { createWallet } from '../src/public/signing-wallet.js';
import { startSystem } from '../src/starting/start-system.js';
import { listedModel } from '../src/worlds/ai-racing-world.js';
import { counting, type MadeDeployment, makeWorld, plant } from '../src/worlds/make-world.js';

const run = {
  inputSchema: { id: 'string' },
  stateChanges: { horse: 'partial' },
  behaviorPrompt: SECRET,
  mutationSettings: {
    mode: 'direct',
    template: { 'horse:{{input.id}}': { wins: { $increment: `{{ input.id == "${SECRET}" ? 2 : 1 }}` } } },
  },
  executionSettings: { visibility: 'public' },
};
/** Its input has a member of the name of one of the signature's. */
const letter = {
  ...run,
  inputSchema: { id: 'string', message: 'string' },
  mutationSettings: { mode: 'direct', template: { 'horse:{{input.id}}': { wins: { $increment: 1 } } } },
};
/** A model decides it. */
const dream = {
  stateChanges: { horse: 'partial' },
  readEntities: [{ schema: 'horse', filter: ['id'] }],
  inputSchema: { id: 'string' },
  behaviorPrompt: 'Change the wins.',
  executionSettings: { visibility: 'public' },
};

const resources = new Resources(PATIENT);
let system: System;
let api: ApiClient;
let deployment: MadeDeployment;
beforeAll(async () => {
  const behaves = says({ stateChanges: { 'horse:A': { wins: 1 } } });
  const server = resources.use('model', await startModelServer({ behaves }));
  const models = join(await temporaryFolder(resources, 'mcp'), 'models.json');
  const free = { inputUsdPerMillionTokens: 0, outputUsdPerMillionTokens: 0, isDefault: true };
  const dreamer = listedModel('dreamer', { baseUrl: server.baseUrl, apiKeyEnv: null, ...free });
  await writeFile(models, JSON.stringify([dreamer]));
  system = resources.use('system', await startSystem(undefined, { AI_MODELS_FILE: models }));
  api = apiClient(system.url, system.key);
  const world = await makeWorld(api, {
    name: 'Derby',
    promptSeed: SECRET,
    schemas: [counting('horse', 'wins')],
    events: [
      { name: 'run', firstVersion: run },
      { name: 'Tür auf!', firstVersion: run },
      { name: 'letter', firstVersion: letter },
      { name: 'dream', firstVersion: dream },
      { name: 'close', firstVersion: { ...run, executionSettings: { visibility: 'admin' } } },
    ],
  });
  deployment = await world.deploy();
  for (const id of ['A', 'B/1']) await plant(api, deployment.path, 'horse', id);
  await api.post(`${deployment.path}/publish`);
});
afterAll(async () => {
  expect(system.output()).not.toMatch(/"level":(50|60)|"code":"internal"/);
  await resources.release();
});

/** A client of the protocol's own package: of revision 2026-07-28 (`auto`), or of the one before. */
async function connect(
  path: string,
  { mode, headers }: { mode?: 'auto' | 'legacy'; headers?: Record<string, string> } = {},
) {
  const client = new Client(
    { name: 'test', version: '1' },
    mode === 'legacy' ? {} : { versionNegotiation: { mode: 'auto' } },
  );
  const url = new URL(path, system.url);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers: headers ?? {} } }));
  onTestFinished(() => client.close());
  return client;
}
const publicPath = () => `/mcp/deployments/${deployment.address}`;
const wallet = createWallet();
const signed = (event: string) => wallet.sign({ deployment: deployment.address, event });
/** What the answers that are examined have; each test checks what it needs of it. */
interface Answered {
  readonly code: string;
  readonly data: { readonly name: string; readonly address: string };
  readonly pagination: unknown;
  readonly errors: readonly { readonly pointer: string }[];
}
const answerOf = (result: unknown) => (result as { structuredContent: Answered }).structuredContent;

describe.each(['auto', 'legacy'] as const)(
  'a published deployment, to a client of the protocol (%s)',
  (mode) => {
    it('has a tool for each public event, and no other', async () => {
      const { tools } = await (await connect(publicPath(), { mode })).listTools();
      const byTitle = new Map(tools.map((tool) => [tool.title, tool]));
      expect([...byTitle.keys()].sort()).toEqual(['Tür auf!', 'dream', 'letter', 'run']);
      expect(byTitle.get('Tür auf!')?.name).toMatch(/^T_r_auf_[0-9a-f]{8}$/);
      expect(byTitle.get('run')).toMatchObject({
        name: 'run',
        inputSchema: {
          type: 'object',
          required: ['id', 'wallet', 'message', 'signature'],
          additionalProperties: false,
        },
        _meta: { 'orrery/priceUsd': 0 },
      });
      expect(Object.keys(byTitle.get('letter')?.inputSchema.properties ?? {})).toEqual([
        'id',
        'message',
        'signed_wallet',
        'signed_message',
        'signed_signature',
      ]);
      expect(JSON.stringify(tools)).not.toContain(SECRET);
    });

    it('executes what a wallet has signed, once', async () => {
      const client = await connect(publicPath(), { mode });
      const call = { name: 'run', arguments: { id: `by-${mode}`, ...signed('run') } };
      const first = await client.callTool(call);
      expect(answerOf(first)).toMatchObject({
        kind: 'committed',
        stateChanges: { [`horse:by-${mode}`]: { wins: 1 } },
      });
      expect(JSON.parse((first.content[0] as { text: string }).text)).toEqual(answerOf(first));
      expect(answerOf(await client.callTool(call))).toEqual(answerOf(first));
      const other = await client.callTool({ ...call, arguments: { ...call.arguments, id: 'other' } });
      expect([other.isError, answerOf(other).code]).toEqual([true, 'message_already_used']);
    });

    it('reads entities and history as resources', async () => {
      const client = await connect(publicPath(), { mode });
      const { resources } = await client.listResources();
      const { resourceTemplates } = await client.listResourceTemplates();
      expect([resources.length, resourceTemplates.length]).toEqual([4, 6]);
      const read = async (uri: string) =>
        JSON.parse(((await client.readResource({ uri })).contents[0] as { text: string }).text);
      const base = resources[0]?.uri ?? '';
      expect((await read(base)).data.address).toBe(deployment.address);
      for (const { uri } of resources) expect((await read(uri)).data).toBeDefined();
      expect((await read(`${base}/entity-instances/B%2F1?entitySchema=horse`)).data.instanceId).toBe('B/1');
      const { data: entries } = await read(`${base}/history?limit=1`);
      expect((await read(`${base}/history/${entries[0].id}`)).data.hash).toBe(entries[0].hash);
      for (const uri of [
        `${base}/settings`,
        'file:///etc/passwd',
        base.replace(/0x.*/, `0x${'0'.repeat(40)}`),
        'x',
      ])
        await expect(client.readResource({ uri }), uri).rejects.toMatchObject({
          code: -32602,
          message: expect.stringContaining('no such resource'),
        });
      const wrong = client.readResource({ uri: `${base}/history?limit=0` });
      await expect(wrong).rejects.toMatchObject({ code: -32602 });
    });

    it('tells how an execution by a model goes on', async () => {
      const client = await connect(publicPath(), { mode });
      const told: number[] = [];
      const result = await client.callTool(
        { name: 'dream', arguments: { id: 'A', ...signed('dream') } },
        { onprogress: ({ progress }) => void told.push(progress) },
      );
      expect(answerOf(result)).toMatchObject({ event: 'dream' });
      expect(told[0]).toBe(1);
    });
  },
);

it('says what is wrong with a call in a result that a model reads', async () => {
  const client = await connect(publicPath());
  const codeOf = async (name: string, given: Record<string, unknown>, meta?: object) => {
    const result = await client.callTool({ name, arguments: given, ...(meta && { _meta: meta }) } as never);
    return [result.isError, answerOf(result).code];
  };
  expect(await codeOf('run', { id: 'A' })).toEqual([true, 'signature_required']);
  expect(await codeOf('run', { id: 'A', ...signed('letter') })).toEqual([true, 'message_mismatch']);
  expect(await codeOf('run', { id: 'A', ...signed('run'), signature: '5'.repeat(88) })).toEqual([
    true,
    'invalid_signature',
  ]);
  expect(await codeOf('run', { id: 7, ...signed('run') })).toEqual([true, 'invalid_input']);
  expect(await codeOf('close', { id: 'A', ...signed('close') })).toEqual([true, 'event_not_bound']);
  expect(await codeOf('run', { id: 'A', ...signed('run') }, { 'x402/payment': 'x' })).toEqual([
    true,
    'invalid_payment',
  ]);
  const { message, ...rest } = signed('letter');
  const named = {
    id: 'A',
    message: 'hello',
    signed_message: message,
    signed_wallet: rest.wallet,
    signed_signature: rest.signature,
  };
  expect(await codeOf('letter', named)).toEqual([undefined, undefined]);
});

const both = 'application/json, text/event-stream';
it.each([
  ...['[', 'a b', 'x:99999', ''].map((host) => [{ host, accept: both }] as const),
  [{ accept: '*/*' }] as const,
])('answers whatever host and whichever type is asked for: %j', async (asked) => {
  const headers = { ...asked, 'content-type': 'application/json' };
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  request(`${system.url}${publicPath()}`, { method: 'POST', headers }, (answer) => {
    answer.resume();
    resolve(answer.statusCode);
  }).end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }));
  expect(await promise).toBe(200);
});

it('is not there where the deployment is not published, and not for pages of other origins', async () => {
  const post = (path: string, headers: Record<string, string>, body = '{}') =>
    fetch(`${system.url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
  const absent = await post(`/mcp/deployments/0x${'0'.repeat(40)}`, {});
  expect([absent.status, ((await absent.json()) as { code: string }).code]).toEqual([
    404,
    'deployment_not_found',
  ]);
  for (const path of [publicPath(), '/mcp']) {
    expect((await post(path, { origin: 'https://elsewhere.example' })).status).toBe(403);
    expect((await post(path, { origin: 'null' })).status).toBe(403);
    expect((await post(path, {}, '[]')).status).toBe(path === '/mcp' ? 401 : 400);
    expect((await fetch(`${system.url}${path}`)).status).toBe(405);
    const long = JSON.stringify({ text: 'x'.repeat(600_000) });
    expect((await post(path, {}, long)).status).toBe(path === '/mcp' ? 401 : 413);
  }
  expect((await post('/mcp', { authorization: 'Bearer x' })).status).toBe(401);
});

it('is found from /llms.txt, the reference, the record of the deployment and a price', async () => {
  const read = async (path: string) => fetch(`${system.url}${path}`);
  const llms = await read('/llms.txt');
  expect(llms.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(await llms.text()).toContain('/mcp/deployments/<address>');
  expect(await (await read('/docs')).text()).toContain('href="/llms.txt"');
  const { headers } = await read(`/app/deployments/${deployment.id}`);
  expect(headers.get('link')).toBe(`</llms.txt>; rel="help", <${publicPath()}>; rel="service"`);
  const body = JSON.stringify({ event: 'run', input: { id: 'A' } });
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
  const refused = await fetch(`${system.url}/app/deployments/${deployment.address}/execute`, init);
  expect(refused.headers.get('link')).toContain(publicPath());
});

describe('a template that fails', () => {
  const placeholder = `{{ input.word == "${SECRET}" ? 1 : {"${SECRET}": 1}[input.word] }}`;
  const word = `${SECRET}x`;
  const hidden = (text: string) => expect(text.replaceAll(word, '')).not.toContain(SECRET);
  let failing: MadeDeployment;
  let historyId: string;
  beforeAll(async () => {
    const template = { result: { [`{{ "${SECRET}" }}`]: placeholder } };
    const guess = {
      inputSchema: { word: 'string' },
      mutationSettings: { mode: 'direct', template },
      executionSettings: { visibility: 'public' },
    };
    const events = [{ name: 'guess', firstVersion: guess }];
    const world = await makeWorld(api, { name: 'Cave', schemas: [], events });
    failing = await world.deploy();
    await api.post(`${failing.path}/publish`);
  });
  const signedGuess = () => wallet.sign({ deployment: failing.address, event: 'guess' });

  it('tells strangers the reason, and nothing of its text', async () => {
    const app = `${system.url}/app/deployments/${failing.address}`;
    const leaving = new AbortController();
    const stream = await fetch(`${app}/stream`, { signal: leaving.signal });
    const body = JSON.stringify({ event: 'guess', input: { word }, ...signedGuess() });
    const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body };
    const answers = [await fetch(`${app}/execute`, init), await fetch(`${app}/execute`, init)];
    for (const answer of answers) {
      const text = await answer.text();
      const problem = JSON.parse(text);
      expect([answer.status, problem.code, problem.detail]).toEqual([
        400,
        'template_failed',
        `There is no "${word}".`,
      ]);
      historyId = problem.facts.historyId;
      hidden(text);
    }
    let streamed = '';
    for await (const part of (stream.body as ReadableStream<Uint8Array>).pipeThrough(
      new TextDecoderStream(),
    )) {
      streamed += part;
      if (/template_failed.*\n\n/s.test(streamed)) break;
    }
    leaving.abort();
    hidden(streamed);
    for (const below of ['/history', '/history?include=all', `/history/${historyId}`]) {
      const shown = await (await fetch(`${app}${below}`)).text();
      expect(shown).toContain('template_failed');
      hidden(shown);
    }
  });

  it('tells agents no more', async () => {
    const client = await connect(`/mcp/deployments/${failing.address}`);
    const result = await client.callTool({ name: 'guess', arguments: { word, ...signedGuess() } });
    expect(answerOf(result).code).toBe('template_failed');
    hidden(JSON.stringify(result));
    const [record] = (await client.listResources()).resources;
    for (const below of ['/history', `/history/${historyId}`]) {
      const shown = JSON.stringify(await client.readResource({ uri: `${record?.uri}${below}` }));
      expect(shown).toContain('template_failed');
      hidden(shown);
    }
  });

  it('tells its owner where it failed', async () => {
    const { body } = await api.get(`${failing.path}/history/${historyId}`);
    const failedCode = { placeholder, pointer: `/result/{{ "${SECRET}" }}` };
    expect(body.data).toMatchObject({ failedCode });
    const answer = await api.post(`${failing.path}/execute`, { event: 'guess', input: { word } });
    expect(answer.body).toMatchObject({ facts: failedCode, detail: expect.stringContaining(placeholder) });
  });
});

describe('the account of a key', () => {
  const keyed = (key: string) => connect('/mcp', { headers: { authorization: `Bearer ${key}` } });

  it('has the operations of the API as tools, and uses them', async () => {
    const client = await keyed(system.key);
    const made = answerOf(
      await client.callTool({ name: 'worlds_create', arguments: { body: { name: 'By an agent' } } }),
    );
    expect(made.data.name).toBe('By an agent');
    const worldAddress = made.data.address;
    const seen = answerOf(
      await client.callTool({ name: 'worlds_get', arguments: { idOrAddress: worldAddress } }),
    );
    expect(seen.data).toEqual(made.data);
    const page = answerOf(
      await client.callTool({ name: 'worlds_list', arguments: { owner: 'me', limit: 1 } }),
    );
    expect(page.pagination).toMatchObject({ limit: 1 });
    const refused = await client.callTool({ name: 'worlds_create', arguments: { body: { title: 'x' } } });
    expect(answerOf(refused).errors.map(({ pointer }) => pointer)).toContain('/title');
  });

  it('shows and does what the key may do alone', async () => {
    const { token } = created(await api.post('/keys', { name: 'reader', scopes: ['read'] }));
    const client = await keyed(token);
    const names = (await client.listTools()).tools.map(({ name }) => name);
    expect(names).toContain('worlds_list');
    expect(names).not.toContain('worlds_create');
    const refused = await client.callTool({ name: 'worlds_create', arguments: { body: { name: 'x' } } });
    expect([refused.isError, answerOf(refused).code]).toEqual([true, 'forbidden']);
  });
});

it("is understood by the protocol's inspector", async () => {
  const require = createRequire(import.meta.url);
  const bin = require
    .resolve('@modelcontextprotocol/inspector/package.json')
    .replace('package.json', 'clients/launcher/build/index.js');
  const args = [
    bin,
    '--cli',
    `${system.url}${publicPath()}`,
    '--transport',
    'http',
    '--method',
    'tools/list',
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(JSON.parse(stdout).tools.map(({ title }: { title: string }) => title)).toContain('Tür auf!');
});
