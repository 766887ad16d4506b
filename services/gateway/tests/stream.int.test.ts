import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type JournalFact, liveContract, readingContract, ServiceError } from '@orrery/contracts';
import { createLogger, systemClock } from '@orrery/service-kit';
import { afterEach, describe, expect, it } from 'vitest';
import type { AppContext } from '../src/app.js';
import { perMinute } from '../src/core/rates/token-bucket.js';
import type { RoutedRpc } from '../src/core/requests/operation.js';
import { type KeyVerifier, principalOfKey } from '../src/http/access/access.js';
import { streamDeployment } from '../src/stream/start-streams.js';
import { createHeadWatch, createPushWatch } from '../src/stream/watches.js';
import { authorized, fakeApp } from './support/fake-app.js';

const deployment = `0x${'a'.repeat(40)}`;
const path = `/api/worlds/1/deployments/${deployment}/stream`;

const routes = [
  liveContract.rpcs['deployments.stream'],
  readingContract.rpcs['public.stream'],
] as RoutedRpc[];

const one = perMinute('one', 100);
const rates = {
  key: one,
  address: one,
  reading: one,
  verification: one,
  wallet: one,
  node: one,
  signIn: one,
};

/** A journal that tests write, an application that streams it. */
async function setUp(overrides: Partial<AppContext> = {}) {
  const entries: JournalFact[] = [];
  let pages = 0;
  let access: 'ok' | 'revoked' | 'hidden' = 'ok';
  const journal = {
    after: async (_deployment: string, seq: number) => {
      pages += 1;
      return { entries: entries.filter((entry) => entry.seq > seq).slice(0, 2), head: entries.length };
    },
    headOf: async () => entries.length,
  };
  const heads = createHeadWatch(journal.headOf);
  const add = async (
    kind: 'execution' | 'paused' | 'deleted' | 'unpublished' | 'published',
    input: object = {},
  ) => {
    entries.push({
      kind,
      seq: entries.length + 1,
      deployment,
      input,
      inputHash: 'x',
      binding: null,
      worldAddress: 'w',
    } as never);
    await heads.poll();
  };
  const keys: KeyVerifier = {
    verify: async (token) => {
      if (access === 'revoked') throw new ServiceError('unauthorized');
      return principalOfKey({ accountId: token === 'key-other' ? 8 : 7, keyId: 'k', scopes: ['read'] });
    },
    forget: () => undefined,
    refresh: async () => undefined,
  };
  const logger = createLogger({ service: 'gateway', level: 'silent' });
  const call = async () => {
    if (access === 'hidden') throw new ServiceError('deployment_not_found');
    return { data: { address: deployment } };
  };
  const streamBounds = overrides.streamBounds ?? {
    ...{ perAddress: 2, perDeployment: 3, ofStrangers: 4, perAccount: 1 },
  };
  const findPublished = async () => {
    if (access === 'hidden') throw new ServiceError('deployment_not_found');
    return { address: deployment, worldAddress: '1', head: '' };
  };
  const stream = streamDeployment(
    { keys, logger, clock: systemClock, deadlineMs: 1000, call, findPublished, streamBounds },
    { journal, heads, pushes: createPushWatch(), whileListening: (work) => work() },
  );
  const { app } = fakeApp({ keys, stream, routes, ...overrides });
  const url = await app.listen({ port: 0, host: '127.0.0.1' });
  const open = (headers: Record<string, string> = {}) => openAt(path, { ...authorized, ...headers });
  const openAt = async (at: string, headers: Record<string, string> = {}) => {
    const leaving = new AbortController();
    const answer = await fetch(`${url}${at}`, {
      headers,
      signal: leaving.signal,
    });
    let text = '';
    const read = async () => {
      for await (const bytes of answer.body ?? []) {
        text += Buffer.from(bytes).toString();
      }
    };
    const ended = read().catch(() => undefined);
    const ids = () => [...text.matchAll(/id: (\d+)\nevent: execution/g)].map(([, id]) => Number(id));
    return { answer, ended, ids, text: () => text, leave: () => leaving.abort() };
  };
  const openPublic = (headers?: Record<string, string>) =>
    openAt(`/app/deployments/${deployment}/stream`, headers);
  return {
    app,
    add,
    open,
    openPublic,
    entries,
    pages: () => pages,
    set: (next: typeof access) => (access = next),
  };
}

type Setup = Awaited<ReturnType<typeof setUp>>;
let current: Setup | undefined;
const start = async (overrides?: Partial<AppContext>) => {
  current = await setUp(overrides);
  return current;
};
afterEach(() => current?.app.close());

async function untilStill(value: () => number): Promise<void> {
  let before = -1;
  const isStill = () => {
    const still = before === value();
    before = value();
    return still;
  };
  await expect.poll(isStill, { interval: 200 }).toBe(true);
}

describe('the live stream', () => {
  it('tells executions as they commit, and only those', async () => {
    const { add, open } = await start();
    await add('execution');
    const stream = await open();
    expect(stream.answer.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect(stream.answer.headers.get('access-control-allow-origin')).toBe('*');
    const addOne = async () => {
      await add('execution');
      return stream.ids().length;
    };
    await expect.poll(addOne).toBeGreaterThan(1);
    await add('paused');
    await add('execution');
    await expect.poll(() => stream.ids().at(-1)).toBe(current?.entries.length);
    const seqs = current?.entries
      .filter(({ kind, seq }) => kind === 'execution' && seq > 1)
      .map(({ seq }) => seq);
    expect(stream.ids()).toEqual(seqs);
    expect(stream.text()).not.toMatch(/inputHash|worldAddress|binding/);
  });

  it('carries on after Last-Event-ID without a gap', async () => {
    const { add, open } = await start();
    for (let i = 0; i < 7; i += 1) await add('execution');
    const stream = await open({ 'last-event-id': '3' });
    await expect.poll(() => stream.ids()).toEqual([4, 5, 6, 7]);
  });

  it('moves the id past entries that are no executions at once', async () => {
    const { add, open } = await start();
    await add('execution');
    const stream = await open({ 'last-event-id': '1' });
    await add('paused');
    await expect.poll(stream.text).toBe(': still here\nid: 2\n\n');
  });

  it.each(['-1', 'x', '1'.repeat(16)])('refuses the Last-Event-ID %s', async (id) => {
    const { open } = await start();
    const { answer, ended, text } = await open({ 'last-event-id': id });
    expect(answer.status).toBe(400);
    await ended;
    expect(text()).toContain('at most 15 digits without leading zeros, such as 42.');
  });

  it('is not there for who may not see the deployment', async () => {
    const { open, set } = await start();
    set('hidden');
    const { answer, ended, text } = await open();
    await ended;
    expect(answer.status).toBe(404);
    expect(JSON.parse(text()).code).toBe('deployment_not_found');
  });

  it('ends soon after the key is revoked', async () => {
    const { open, set } = await start();
    const stream = await open();
    set('revoked');
    await stream.ended;
    expect(stream.text()).toContain('event: end\ndata: {"code":"unauthorized"}');
  });

  it('ends with the deployment', async () => {
    const { open, add } = await start();
    await add('execution');
    const stream = await open({ 'last-event-id': '1' });
    await add('deleted');
    await add('paused');
    await stream.ended;
    expect(stream.text()).toContain('event: end\ndata: {"code":"deployment_not_found"}');
  });

  it('keeps no more open than it may, and lets go of those that left', async () => {
    const { open } = await start();
    const first = await open();
    await open();
    expect((await open()).answer.status).toBe(503);
    first.leave();
    await expect.poll(async () => (await open()).answer.status).toBe(200);
  });

  it('leaves streams to other accounts, however many one opens', async () => {
    const { open } = await start({ rates });
    const first = await open();
    const { answer } = await open();
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '5']);
    expect((await open({ authorization: 'Bearer key-other' })).answer.status).toBe(200);
    first.leave();
    await expect.poll(async () => (await open()).answer.status).toBe(200);
  });

  it('ends when the application closes', async () => {
    const { open, app } = await start();
    const stream = await open();
    await app.close();
    await stream.ended;
  });

  it('buffers nothing for a reader that does not read', async () => {
    const { entries, app, pages } = await start();
    const big = { text: 'x'.repeat(200_000) };
    for (let seq = 1; seq <= 200; seq += 1)
      entries.push({ kind: 'execution', seq, deployment, input: big } as never);
    const { port } = app.server.address() as { port: number };
    const socket = connect(port, '127.0.0.1');
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer key-all\r\nLast-Event-ID: 0\r\n\r\n`,
    );
    await once(socket, 'readable');
    await untilStill(pages);
    // 40 MB wait in the journal; beyond what sockets hold, nothing more of it is fetched for this reader.
    expect(pages()).toBeLessThan(70);
    socket.destroy();
  });
});

it('holds so many bytes for streams that do not read, and cuts who has waited for the longest time', async () => {
  const streamBounds = {
    perAddress: 2,
    perDeployment: 3,
    ofStrangers: 4,
    perAccount: 50,
    untakenBytes: 20_000_000,
  };
  const { app, add } = await start({ maxStreams: 50, streamBounds });
  const { port } = app.server.address() as { port: number };
  const accepted: Socket[] = [];
  app.server.on('connection', (socket) => accepted.push(socket));
  const sockets: Socket[] = [];
  for (let entries = 0; entries < 3; entries += 1) {
    for (let n = 0; n < 2; n += 1) {
      const socket = connect(port, '127.0.0.1').on('error', () => undefined);
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer key-all\r\n\r\n`);
      await once(socket, 'readable');
      sockets.push(socket);
    }
    // More than sockets hold; the two that wait for it are sent the same bytes.
    await add('execution', { text: 'x'.repeat(8_000_000) });
    const isBehind = () => accepted.slice(2 * entries).map(({ writableNeedDrain }) => writableNeedDrain);
    await expect.poll(isBehind).toEqual([true, true]);
  }
  await expect
    .poll(() => accepted.map(({ destroyed }) => destroyed))
    .toEqual([...[true, true, false, false, false, false]]);
  for (const socket of sockets) socket.destroy();
});

it('is not kept waiting by streams that do not read', async () => {
  const { entries, app, open, pages } = await start({ maxStreams: 50 });
  const big = { text: 'x'.repeat(500_000) };
  for (let seq = 1; seq <= 60; seq += 1)
    entries.push({ kind: 'execution', seq, deployment, input: big } as never);
  const { port } = app.server.address() as { port: number };
  const sockets = Array.from({ length: 20 }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    socket.write(
      `GET ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer key-all\r\nLast-Event-ID: 0\r\n\r\n`,
    );
    return socket;
  });
  await expect.poll(pages).toBeGreaterThan(40);
  await untilStill(pages);
  const stream = await open({ 'last-event-id': '0' });
  await expect.poll(() => stream.ids().length).toBe(60);
  for (const socket of sockets) socket.destroy();
});

describe('the live stream without a key', () => {
  it('tells executions until the deployment is unpublished, and nothing of after that', async () => {
    const { add, openPublic } = await start();
    await add('unpublished');
    await add('published');
    await add('execution');
    const stream = await openPublic({ 'last-event-id': '0' });
    await add('execution');
    await expect.poll(stream.ids).toEqual([3, 4]);
    await add('unpublished');
    await add('execution');
    await stream.ended;
    expect(stream.ids()).toEqual([3, 4]);
    expect(stream.text()).toMatch(/event: end\ndata: {"code":"deployment_not_found"}\n\n$/);
  });

  it('is not there for a deployment that is not published', async () => {
    const { openPublic, set } = await start();
    set('hidden');
    expect((await openPublic()).answer.status).toBe(404);
  });

  it('reads each page of the journal once for any number of streams, and all get the same', async () => {
    const bounds = { perAddress: 100, perDeployment: 50, ofStrangers: 100, perAccount: 100 };
    const { add, openPublic, pages } = await start({ streamBounds: bounds });
    await add('execution');
    const streams = await Promise.all(Array.from({ length: 3 }, () => openPublic({ 'last-event-id': '1' })));
    // Opening one takes the head alone: a page for each of a thousand that open at once took the runtime for seconds.
    expect(pages()).toBeLessThanOrEqual(2);
    await add('execution');
    for (const stream of streams) await expect.poll(stream.ids).toEqual([2]);
    const before = pages();
    for (let i = 0; i < 5; i += 1) await add('execution');
    for (const stream of streams) await expect.poll(stream.ids).toEqual([2, 3, 4, 5, 6, 7]);
    // Of two entries each, and one that is empty after each time that the journal has grown.
    expect(pages() - before).toBeLessThanOrEqual(11);
    expect(new Set(streams.map(({ text }) => text())).size).toBe(1);
  });

  it('is open so many times of a deployment, and lets go of those that left', async () => {
    const { openPublic } = await start();
    const streams = [await openPublic(), await openPublic(), await openPublic()];
    expect((await openPublic()).answer.status).toBe(503);
    streams[0]?.leave();
    await expect.poll(async () => (await openPublic()).answer.status).toBe(200);
  });

  it('is open so many times for a client address, and takes none of those with a key', async () => {
    const { openPublic, open } = await start({ rates });
    await openPublic();
    await openPublic();
    const { answer } = await openPublic();
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([429, '5']);
    expect((await open()).answer.status).toBe(200);
  });
});
