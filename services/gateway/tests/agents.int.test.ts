import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { type JsonObject, readingContract } from '@orrery/contracts';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { AppContext } from '../src/app.js';
import type { RoutedRpc } from '../src/core/requests/operation.js';
import { toolName } from '../src/mcp/event-tools.js';
import { authorized, fakeApp, httpLimits } from './support/fake-app.js';

const MIB = 1024 * 1024;
const address = `0x${'5a'.repeat(20)}`;
const path = `/mcp/deployments/${address}`;
const base = `http://localhost:3000/app/deployments/${address}`;
/** Of the revision that is answered by events throughout. */
const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': '2025-11-25',
};

const publicEvent = (event: string, inputSchema: JsonObject | null = null) => ({
  event,
  inputSchema,
  description: null,
  priceUsd: 0.01,
  payerMayCall: true,
});

/** A gateway with one published deployment, which has these events. */
function serve(events: readonly ReturnType<typeof publicEvent>[], overrides: Partial<AppContext> = {}) {
  const routes = Object.values(readingContract.rpcs) as unknown as RoutedRpc[];
  const fake = fakeApp({ routes, ...overrides });
  onTestFinished(() => fake.app.close());
  fake.answers['deployments.describe'] = async ({ request }) => {
    const { event: only } = request.query;
    const asked = events.filter(({ event }) => only === undefined || event === only);
    return { data: { address, name: 'Derby', events: asked } };
  };
  return fake;
}

const message = (method: string, params: object) => JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });

/** What one request of an agent is answered, and in how many bytes. */
async function ask(app: FastifyInstance, url: string, method: string, params: object) {
  const answer = await app.inject({
    method: 'POST',
    url,
    headers: { ...headers, ...(url === '/mcp' && authorized) },
    payload: message(method, params),
  });
  expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'text/event-stream']);
  const { result, error } = JSON.parse(/^data: (\{.*)$/m.exec(answer.body)?.[1] ?? '');
  return { result, error, bytes: Buffer.byteLength(answer.body) };
}

describe('agents that read nothing', () => {
  const answered = { data: { text: 'x'.repeat(900 * 1024) }, payment: null };
  const patient = { takenWithinMs: 60_000, requestTimeoutMs: 60_000, headersTimeoutMs: 60_000 };
  const overrides: Partial<AppContext> = {
    maxInFlight: 4,
    limits: { ...httpLimits, ...patient, maxUntakenBytes: 8 * MIB },
    executeForWallet: async () => answered as never,
  };

  it.each([
    ['a resource', 'resources/read', { uri: `${base}/entity-instances` }],
    ['a call that is to tell how it goes on', 'tools/call', { name: 'run', _meta: { progressToken: 1 } }],
    ['any other call', 'tools/call', { name: 'run' }],
  ])('take no slot and no memory from the others: %s', async (_, method, params) => {
    const { app, answers } = serve([publicEvent('run')], overrides);
    answers['instances.list'] = async () => answered;
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const body = message(method, params);
    const lines = Object.entries({ host: 'x', ...headers, 'content-length': body.length });
    const request = `POST ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
    for (let n = 0; n < 3; n += 1) await silent(port, request.repeat(10));
    const open = () => new Promise((resolve) => app.server.getConnections((_, count) => resolve(count)));
    // What is left has not reached the bound.
    await expect.poll(open).toBeLessThan(3);
    const probe = await fetch(`http://127.0.0.1:${port}/app/deployments/${address}?event=run`);
    expect(probe.status).toBe(200);
  });

  async function silent(port: number, text: string): Promise<void> {
    const socket: Socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined).pause();
    await once(socket, 'connect');
    socket.write(text);
  }
});

it('a call begins its answer while the event is executed, so that nothing cuts its connection', async () => {
  const executed = Promise.withResolvers<void>();
  const executeForWallet = async () => {
    await executed.promise;
    return { data: { done: true }, payment: null } as never;
  };
  const { app } = serve([publicEvent('run')], { executeForWallet });
  await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const body = message('tools/call', { name: 'run' });
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { method: 'POST', headers, body });
  expect(answer.headers.get('content-type')).toBe('text/event-stream');
  executed.resolve();
  expect(await answer.text()).toContain('"done":true');
});

describe('the tools of a deployment with large contracts', () => {
  const MOST = 256 * 1024;
  const contract = (bytes: number) => ({
    type: 'object',
    properties: { a: { type: 'string', title: 'x'.repeat(bytes) } },
  });
  const many = Array.from({ length: 74 }, (_, at) => publicEvent(`e${at}`, contract(56_000)));

  it('are listed in pages', async () => {
    const { app } = serve(many);
    const names: string[] = [];
    let cursor: string | undefined;
    do {
      const { result, bytes } = await ask(app, path, 'tools/list', { ...(cursor && { cursor }) });
      expect(bytes).toBeLessThan(MOST + 1024);
      names.push(...result.tools.map(({ name }: { name: string }) => name));
      cursor = result.nextCursor;
    } while (cursor !== undefined);
    expect(names).toEqual(many.map(({ event }) => event));
  });

  it('are alone on a page that one of them fills', async () => {
    const { app } = serve([publicEvent('a'), publicEvent('b', contract(MOST)), publicEvent('c')]);
    const namesAfter = async (cursor?: string) => {
      const { result } = await ask(app, path, 'tools/list', { ...(cursor && { cursor }) });
      return [result.tools.map(({ name }: { name: string }) => name), result.nextCursor];
    };
    expect(await namesAfter()).toEqual([['a'], 'a']);
    expect(await namesAfter('a')).toEqual([['b'], 'b']);
    expect(await namesAfter('b')).toEqual([['c'], undefined]);
  });

  it('are listed anew where the tool before a page is gone', async () => {
    const { app } = serve(many);
    const { error } = await ask(app, path, 'tools/list', { cursor: 'gone' });
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining('without a cursor') });
  });

  it('are read only where they are needed', async () => {
    const { app, seen } = serve([...many, publicEvent('Tür auf!')], {
      executeForWallet: async () => ({ data: { done: true }, payment: null }) as never,
    });
    await ask(app, path, 'resources/list', {});
    const unknown = await ask(app, path, 'tools/call', { name: 'nothing' });
    expect(unknown.result.structuredContent.code).toBe('event_not_bound');
    expect((await ask(app, path, 'tools/call', { name: 'no tool' })).result.isError).toBe(true);
    await ask(app, path, 'tools/call', { name: 'e7' });
    expect(seen.map(({ request }) => request.query['event'])).toEqual(['', 'nothing', 'e7']);
    const { result } = await ask(app, path, 'tools/call', { name: toolName('Tür auf!') });
    expect(result.structuredContent).toEqual({ done: true });
  });
});

describe('the answer of what was done, where it is large', () => {
  const large = 'x'.repeat(1.1 * MIB);
  const call = async (name: string, given: object, data: unknown) => {
    const { app, answers } = serve([]);
    answers[name.replace('_', '.')] = async () => ({ data });
    const { result } = await ask(app, '/mcp', 'tools/call', { name, arguments: given });
    expect(JSON.stringify(result).length).toBeLessThan(MIB);
    return result;
  };
  const inDeployment = { worldAddress: address, address };
  const execute = { ...inDeployment, dryRun: 'true', body: { event: 'run' } };

  it('comes without what the model was asked and said', async () => {
    const stateChanges = { 'horse:A': { wins: 1 } };
    const llm = { model: 'm', costUsd: 0.01, request: { text: large }, response: { text: large } };
    const data = { kind: 'dry_run', dryRun: true, stateChanges, prompt: { text: large }, llm };
    const { isError, structuredContent } = await call('deployments_execute', execute, data);
    expect(isError).toBeUndefined();
    expect(structuredContent).toMatchObject({
      data: { kind: 'dry_run', dryRun: true, stateChanges, llm: { model: 'm', costUsd: 0.01 } },
      leftOut: ['/data/prompt', '/data/llm/request', '/data/llm/response'],
      message: expect.stringContaining('was done'),
    });
    expect(structuredContent.data).not.toHaveProperty('prompt');
  });

  it('names at least what it is about', async () => {
    const entry = { id: 'h1', seq: 7, changes: { text: large } };
    const data = { seq: 3, outcome: 'executed', entry, error: null };
    const given = { ...inDeployment, body: { seq: 3 } };
    const { isError, structuredContent } = await call('deployments_replay', given, data);
    expect(isError).toBeUndefined();
    expect(structuredContent).toMatchObject({
      data: { seq: 3, outcome: 'executed', entry: { id: 'h1', seq: 7 }, error: null },
      leftOut: ['/data/entry/changes'],
    });
  });

  it('is a refusal where nothing was done', async () => {
    const { isError, structuredContent } = await call('history_list', inDeployment, [large]);
    expect([isError, structuredContent.code]).toEqual([true, 'page_too_deep']);
  });
});
