import { EventEmitter, once } from 'node:events';
import { Agent, request } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import { systemClock } from '@orrery/service-kit';
import { FakeClock } from '@orrery/testing';
import type { FastifyInstance } from 'fastify';
import { describe, expect, it } from 'vitest';
import { trustedProxies } from '../src/core/clients/clients.js';
import { perMinute } from '../src/core/rates/token-bucket.js';
import { type KeyVerifier, principalOfKey } from '../src/http/access/access.js';
import { createLocalLimiter } from '../src/http/rates/limiter.js';
import { authorized, fakeApp, httpLimits, scopes } from './support/fake-app.js';

const rates = {
  key: { name: 'key', burst: 2, perSecond: 0.5 },
  address: perMinute('address', 1),
  reading: perMinute('reading', 1),
  verification: perMinute('verification', 1),
  wallet: perMinute('wallet', 1),
  node: perMinute('node', 1),
  signIn: perMinute('sign-in', 1),
};

describe('rate limits', () => {
  it('count per key, and say what is left', async () => {
    const { app } = fakeApp({ rates, limiter: createLocalLimiter(new FakeClock()) });
    const answers = [];
    for (let i = 0; i < 3; i += 1)
      answers.push(await app.inject({ url: '/api/things/x', headers: authorized }));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 429]);
    expect(answers[0]?.headers).toMatchObject({
      'ratelimit-policy': '"key";q=2;w=4',
      ratelimit: '"key";r=1;t=2',
    });
    expect(answers[2]?.headers['retry-after']).toMatch(/^[12]$/);
    expect(answers[2]?.json()).toMatchObject({ code: 'rate_limited', status: 429 });
  });

  it('count public requests per client address, before the body is read', async () => {
    const { app } = fakeApp({ rates });
    const send = (address: string, body: string) =>
      app.inject({
        method: 'POST',
        url: '/app/things',
        remoteAddress: address,
        body,
        headers: { 'content-type': 'application/json' },
      });
    expect((await send('192.0.2.1', '{}')).statusCode).toBe(200);
    expect((await send('192.0.2.1', 'not json')).statusCode).toBe(429);
    expect((await send('192.0.2.2', '{}')).statusCode).toBe(200);
  });

  it('believe X-Forwarded-For only where it is configured', async () => {
    const send = (trusted: string, forwarded: string) => {
      const { app, lines } = fakeApp({ limits: { ...httpLimits, trustProxy: trustedProxies(trusted) } });
      const headers = { ...authorized, 'x-forwarded-for': forwarded };
      return app
        .inject({ url: '/api/things/x', remoteAddress: '10.0.0.1', headers })
        .then(() => lines.join());
    };
    expect(await send('false', '192.0.2.7')).toContain('"address":"10.0.0.1"');
    expect(await send('10.0.0.0/8', '192.0.2.7')).toContain('"address":"192.0.2.7"');
    expect(await send('172.16.0.0/12', '192.0.2.7')).toContain('"address":"10.0.0.1"');
  });
});

describe('admission', () => {
  /** An application with one place; each request that runs there goes on when the test says. */
  const onePlace = (more: { maxInFlight?: number; queueMs?: number } = {}) => {
    const { app, answers } = fakeApp({ maxInFlight: 1, ...more });
    const running: (() => void)[] = [];
    answers['things.get'] = () =>
      new Promise((resolve) => running.push(() => resolve({ data: { name: 'x' } })));
    // Awaited, since a request is only sent then.
    const get = async () => await app.inject({ url: '/api/things/x', headers: authorized });
    return { app, running, get };
  };

  it('lets as many wait as run, refuses the others at once, and never a health check', async () => {
    const { app, running, get } = onePlace({ queueMs: 60_000 });
    const first = get();
    await expect.poll(() => running.length).toBe(1);
    const second = get();
    const third = await get();
    expect([third.statusCode, third.json().code, third.headers['retry-after']]).toEqual([
      503,
      'overloaded',
      '3',
    ]);
    expect((await app.inject({ url: '/healthz' })).statusCode).toBe(200);
    running[0]?.();
    expect((await first).statusCode).toBe(200);
    await expect.poll(() => running.length).toBe(2);
    running[1]?.();
    expect((await second).statusCode).toBe(200);
  });

  it('refuses with Retry-After what has waited for a second', async () => {
    const { running, get } = onePlace();
    const first = get();
    await expect.poll(() => running.length).toBe(1);
    const startedAt = performance.now();
    const second = await get();
    expect([second.statusCode, second.headers['retry-after']]).toEqual([503, '1']);
    expect(performance.now() - startedAt).toBeGreaterThan(900);
    running[0]?.();
    expect((await first).statusCode).toBe(200);
  });

  it('gives the place of a request that waits for its run to another one, and counts it no more when it ends', async () => {
    const { app, answers } = fakeApp({ maxInFlight: 1, maxWaiting: 2 });
    const waiting: (() => void)[] = [];
    answers['things.create'] = ({ call }) =>
      new Promise((resolve) => {
        call.onRun?.();
        waiting.push(() => resolve({ data: { name: 'x' } }));
      });
    const get = async () => (await app.inject({ url: '/api/things/x', headers: authorized })).statusCode;
    const wait = async () =>
      (await app.inject({ method: 'POST', url: '/api/things', headers: authorized, payload: { name: 'x' } }))
        .statusCode;
    const first = [wait(), wait()];
    await expect.poll(() => waiting.length).toBe(2);
    expect(await get()).toBe(200);
    // There is room for two; the third keeps its place.
    const third = wait();
    await expect.poll(() => waiting.length).toBe(3);
    expect(await get()).toBe(503);
    for (const end of waiting.splice(0)) end();
    expect(await Promise.all([...first, third])).toEqual([201, 201, 201]);
    const again = [wait(), wait()];
    await expect.poll(() => waiting.length).toBe(2);
    expect(await get()).toBe(200);
    for (const end of waiting) end();
    await Promise.all(again);
  });

  it('gives no place to a client that leaves during a guard', async () => {
    const guarded: (() => void)[] = [];
    const keys: KeyVerifier = {
      verify: (token) =>
        new Promise((resolve) =>
          guarded.push(() => resolve(principalOfKey({ accountId: 7, keyId: token, scopes }))),
        ),
      forget: () => undefined,
      refresh: async () => undefined,
    };
    const { app, seen } = fakeApp({ maxInFlight: 1, keys });
    await using server = await listening(app);
    const left = server.send('GET', '/api/things/x');
    await expect.poll(() => guarded.length).toBe(1);
    left.socket.destroy();
    await expect.poll(() => server.open()).toBe(0);
    guarded.shift()?.();
    const next = server.send('GET', '/api/things/x');
    await expect.poll(() => guarded.length).toBe(1);
    guarded.shift()?.();
    expect(await next.answer).toMatch(/^HTTP\/1\.1 200 /);
    expect(seen.length).toBe(1);
  });

  it('keeps no place in the queue for a client that leaves', async () => {
    const { app, running, get } = onePlace({ queueMs: 60_000 });
    await using server = await listening(app);
    const first = get();
    await expect.poll(() => running.length).toBe(1);
    const left = server.send('GET', '/api/things/x');
    await expect.poll(() => server.received()).toBeGreaterThan(0);
    left.socket.destroy();
    await expect.poll(() => server.open()).toBe(0);
    const second = get();
    await expect.poll(async () => (await get()).statusCode).toBe(503);
    running[0]?.();
    await expect.poll(() => running.length).toBe(2);
    running[1]?.();
    expect([(await first).statusCode, (await second).statusCode]).toEqual([200, 200]);
  });

  it('gives the places of pipelined requests back when their client leaves', async () => {
    const { app, running, get } = onePlace({ maxInFlight: 2 });
    await using server = await listening(app);
    const left = server.send('GET', '/api/things/x', 2);
    await expect.poll(() => running.length).toBe(2);
    left.socket.destroy();
    await expect.poll(() => server.open()).toBe(0);
    for (const goOn of running.splice(0)) goOn();
    const next = [get(), get()];
    await expect.poll(() => running.length).toBe(2);
    for (const goOn of running) goOn();
    expect((await Promise.all(next)).map(({ statusCode }) => statusCode)).toEqual([200, 200]);
  });

  it('counts no request whose body is still arriving', async () => {
    const { app } = fakeApp({ maxInFlight: 1 });
    await using server = await listening(app);
    const slow = Array.from({ length: 5 }, () => server.post('/app/things', 'content-length: 20', '{'));
    await expect.poll(() => server.open()).toBe(5);
    expect((await app.inject({ url: '/api/things', headers: authorized })).statusCode).toBe(200);
    for (const { socket } of slow) socket.destroy();
  });
});

/** A busy machine takes its time. */
const unhurried = { ...httpLimits, requestTimeoutMs: 60_000, headersTimeoutMs: 60_000 };

describe('arriving bodies', () => {
  it.each([
    ['small', 'content-length: 500', ' '],
    ['of unknown length', 'transfer-encoding: chunked', '1\r\n \r\n'],
  ])('that are %s and drip are refused with 408 and end their connection', async (_size, header, drop) => {
    const { app } = fakeApp({ limits: { ...unhurried, slowBodyGraceMs: 50 } });
    await using server = await listening(app);
    const one = server.post('/app/things', header, drop);
    const drip = setInterval(() => one.socket.write(drop), 10);
    expect(await one.answer).toMatch(/^HTTP\/1\.1 408 .*"code":"request_timeout"/s);
    clearInterval(drip);
  });

  it('have a budget, which leaves the small ones alone', async () => {
    const { app } = fakeApp({ limits: { ...unhurried, maxBodyBytes: 100 * 1024 } });
    await using server = await listening(app);
    const part = `{"name":"${'x'.repeat(80 * 1024)}`;
    const first = server.post('/api/things', 'content-length: 200000', part);
    await expect.poll(() => server.received()).toBeGreaterThan(80 * 1024);
    const second = server.post('/api/things', 'transfer-encoding: chunked', chunk(part));
    expect(await second.answer).toMatch(/^HTTP\/1\.1 503 .*retry-after: 1.*"code":"overloaded"/is);
    const small = await fetch(`${server.url}/app/things`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: '{}',
    });
    expect(small.status).toBe(200);
    first.socket.destroy();
    await expect.poll(() => server.open()).toBeLessThan(2);
    const third = server.post('/api/things', 'transfer-encoding: chunked', `${chunk(`${part}"}`)}0\r\n\r\n`);
    expect(await third.answer).toMatch(/^HTTP\/1\.1 201 /);
  });

  it('that an operation does not read leave the budget with their request', async () => {
    const { app } = fakeApp({ limits: unhurried });
    await using server = await listening(app);
    const length = 900_000;
    for (let n = 0; n < 10; n += 1) {
      const health = server.post('/healthz', `content-length: ${length}`, '', 'GET');
      expect(await health.answer).toMatch(/^HTTP\/1\.1 200 /);
      const before = server.received();
      health.socket.write('x'.repeat(length));
      await expect.poll(() => server.received() - before).toBe(length);
      health.socket.destroy();
      await expect.poll(() => server.open()).toBe(0);
    }
    const large = `{"name":"${'x'.repeat(200_000)}"}`;
    const next = server.post('/api/things', `content-length: ${large.length}`, large);
    expect(await next.answer).toMatch(/^HTTP\/1\.1 201 /);
  });

  it('are refused by the limit of their route, from Content-Length or while they arrive', async () => {
    const { app } = fakeApp();
    await using server = await listening(app);
    // The operation takes 1 KiB: six times that and 4 KiB more on the wire.
    const limit = 10 * 1024;
    const announced = server.post('/app/things', `content-length: ${limit + 1}`, '{');
    const sent = server.post('/app/things', 'transfer-encoding: chunked', chunk(`"${'x'.repeat(limit)}"`));
    const huge = server.post('/app/things', `content-length: ${2 * 1024 * 1024}`, '{');
    for (const one of [announced, sent, huge])
      expect(await one.answer).toMatch(/^HTTP\/1\.1 413 .*at most 10240 bytes/is);
    for (const one of [sent, huge]) expect(await one.answer).toMatch(/connection: close/);
    const escaped = `{"later":"${'\\u0041'.repeat(1024)}"}`;
    const fits = server.post('/app/things', `content-length: ${escaped.length}`, escaped);
    expect(await fits.answer).toMatch(/^HTTP\/1\.1 400 .*"pointer":"\/later"/s);
    const nothing = server.post('/api/things/x', 'content-length: 5000', '{', 'DELETE');
    expect(await nothing.answer).toMatch(/^HTTP\/1\.1 413 /);
  });
});

describe('answers that clients do not read', () => {
  const large = 'x'.repeat(8 * 1024 * 1024);
  /** Where `/api/things/large` is answered with 8 MiB. */
  const withLarge = (overrides: Parameters<typeof fakeApp>[0] = {}) => {
    const made = fakeApp({ limits: { ...unhurried, takenWithinMs: 300 }, ...overrides });
    made.answers['things.get'] = async ({ request }) => ({
      data: { name: request.params.name === 'large' ? large : 'x' },
    });
    return made;
  };
  const statusOf = (url: string) => fetch(`${url}/api/things/x`, { headers: authorized }).then(statusIn);
  const statusIn = ({ status }: Response) => status;

  it('take no slots, and end with their connection', async () => {
    const { app, seen } = withLarge({ maxInFlight: 2 });
    await using server = await listening(app);
    const { socket } = server.send('GET', '/api/things/large', 3);
    socket.pause();
    await expect.poll(() => seen.length).toBe(3);
    expect(await statusOf(server.url)).toBe(200);
    await expect.poll(() => server.isOpen(socket)).toBe(false);
  });

  it('are written for as long as their client takes some of them', async () => {
    const { app, answers } = withLarge({ limits: { ...unhurried, takenWithinMs: 2000 } });
    answers['things.get'] = async () => ({ data: { name: large.repeat(3) } });
    await using server = await listening(app);
    const { socket } = server.send('GET', '/api/things/large');
    let read = 0;
    socket.on('data', (bytes: Buffer) => {
      read += bytes.length;
      socket.pause();
      setTimeout(() => socket.resume(), 8);
    });
    await expect.poll(() => read).toBeGreaterThan(3 * large.length);
  });

  it('are bounded together: who has taken nothing for the longest time is cut', async () => {
    const limits = { ...unhurried, takenWithinMs: 60_000, maxUntakenBytes: 20 * 1024 * 1024 };
    const { app, seen } = withLarge({ limits });
    await using server = await listening(app);
    const sockets = [];
    for (let n = 1; n <= 3; n += 1) {
      const { socket } = server.send('GET', '/api/things/large');
      sockets.push(socket.pause());
      await expect.poll(() => seen.length).toBe(n);
    }
    await expect.poll(() => server.open()).toBe(2);
    const [first, ...others] = sockets.map((socket) => server.isOpen(socket));
    expect([first, others]).toEqual([false, [true, true]]);
  });

  it('behind a request that runs are cut first', async () => {
    const limits = { ...unhurried, takenWithinMs: 60_000, maxUntakenBytes: 20 * 1024 * 1024 };
    const { app, answers, seen } = withLarge({ limits });
    answers['things.create'] = () => new Promise(() => undefined);
    await using server = await listening(app);
    const sockets = [server.send('GET', '/api/things/large').socket.pause()];
    await expect.poll(() => seen.length).toBe(1);
    sockets.push(server.post('/api/things', 'content-length: 12', '{"name":"x"}').socket.pause());
    await expect.poll(() => seen.length).toBe(2);
    sockets[1]?.write(server.headOf('GET', '/api/things/large'));
    await expect.poll(() => seen.length).toBe(3);
    sockets.push(server.send('GET', '/api/things/large').socket.pause());
    await expect.poll(() => seen.length).toBe(4);
    await expect.poll(() => sockets.map((socket) => server.isOpen(socket))).toEqual([true, false, true]);
  });

  it('of more pipelined requests than a client may send end its connection', async () => {
    const { app, answers, seen } = withLarge();
    const running: (() => void)[] = [];
    answers['things.get'] = () =>
      new Promise((resolve) => running.push(() => resolve({ data: { name: 'x' } })));
    await using server = await listening(app);
    const few = server.send('GET', '/api/things/x', 32);
    await expect.poll(() => running.length).toBe(32);
    const many = server.send('GET', '/api/things/x', 300);
    await once(many.socket, 'close');
    expect(seen.length).toBeLessThanOrEqual(64);
    for (const goOn of running) goOn();
    expect(await few.answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('connections', () => {
  const connectFrom = ({ server }: FastifyInstance, remoteAddress: string) => {
    const socket = Object.assign(new PassThrough(), { remoteAddress });
    server.emit('connection', socket);
    return socket;
  };
  const openOf = (sockets: PassThrough[]) => sockets.filter(({ destroyed }) => !destroyed).length;
  const twelve = (app: FastifyInstance, address: string) =>
    Array.from({ length: 12 }, () => connectFrom(app, address));

  it('are bounded per client address, but not on loopback', async () => {
    const { app } = fakeApp();
    await using _server = await listening(app);
    const sockets = twelve(app, '192.0.2.1');
    expect(openOf(sockets)).toBe(10);
    expect(openOf(twelve(app, '::ffff:192.0.2.1'))).toBe(0);
    for (const address of ['127.0.0.1', '::1', '::ffff:127.0.0.1'])
      expect(openOf(twelve(app, address))).toBe(12);
    expect(openOf(twelve(app, '2001:db8::1'))).toBe(10);
    expect(connectFrom(app, '2001:db8::2').destroyed).toBe(true);
    sockets[0]?.destroy();
    await expect.poll(() => connectFrom(app, '192.0.2.1').destroyed).toBe(false);
  });

  it('of a trusted proxy are not; there the requests of each client are', async () => {
    const limits = { ...httpLimits, maxPerAddress: 1, trustProxy: trustedProxies('192.0.2.0/24, 127.0.0.1') };
    const { app, answers } = fakeApp({ limits });
    await using _server = await listening(app);
    expect(openOf(twelve(app, '192.0.2.1'))).toBe(12);
    expect(openOf(twelve(app, '198.51.100.1'))).toBe(1);
    const running: (() => void)[] = [];
    answers['things.get'] = () =>
      new Promise((resolve) => running.push(() => resolve({ data: { name: 'x' } })));
    const get = async (url: string, client: string) =>
      (await app.inject({ url, headers: { ...authorized, 'x-forwarded-for': client } })).statusCode;
    const first = get('/api/things/x', '203.0.113.1');
    await expect.poll(() => running.length).toBe(1);
    expect(await get('/api/things', '203.0.113.1')).toBe(503);
    expect(await get('/healthz', '203.0.113.1')).toBe(200);
    expect(await get('/api/things', '203.0.113.2')).toBe(200);
    running[0]?.();
    expect([await first, await get('/api/things', '203.0.113.1')]).toEqual([200, 200]);
  });
});

it('a client whose body is refused gets the answer, keeps its connection, and leaves the budget to others', async () => {
  const { app } = fakeApp({ limits: { ...httpLimits, maxBodyBytes: 100 * 1024 } });
  await using server = await listening(app);
  let opened = 0;
  app.server.on('connection', () => {
    opened += 1;
  });
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const send = (path: string, body: string) =>
    new Promise<number | undefined>((resolve, reject) => {
      const headers = { ...authorized, 'content-type': 'application/json', 'content-length': body.length };
      const asked = request(`${server.url}${path}`, { agent, method: 'POST', headers }, (answer) =>
        answer.resume().once('end', () => resolve(answer.statusCode)),
      );
      asked.once('error', reject).end(body);
    });
  // The first is allowed by the server and not by the operation, the second by neither.
  for (const length of [1024 * 1024 - 100, 2 * 1024 * 1024 - 100]) {
    const large = JSON.stringify({ later: 'x'.repeat(length) });
    for (let n = 0; n < 10; n += 1) expect(await send('/app/things', large)).toBe(413);
  }
  expect(opened).toBe(1);
  expect(await send('/api/things', JSON.stringify({ name: 'x'.repeat(90 * 1024) }))).toBe(201);
  agent.destroy();
});

const chunk = (text: string) => `${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`;

/** The application on a port, and requests that are written to it byte by byte. */
async function listening(app: FastifyInstance) {
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  const { port } = app.server.address() as AddressInfo;
  const accepted = new Set<Socket>();
  app.server.on('connection', (socket) => {
    accepted.add(socket);
    socket.once('close', () => accepted.delete(socket));
  });
  const write = (text: string) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => undefined);
    socket.write(text);
    const answer = once(socket, 'data').then(([data]) => String(data));
    answer.catch(() => undefined);
    return { socket, answer };
  };
  const headOf = (method: string, path: string, ...headers: string[]) =>
    [
      `${method} ${path} HTTP/1.1`,
      'host: x',
      `authorization: ${authorized.authorization}`,
      ...headers,
      '',
      '',
    ].join('\r\n');
  return {
    url,
    headOf,
    /** `times` requests without a body, each before the answer of the last. */
    send: (method: string, path: string, times = 1) => write(headOf(method, path).repeat(times)),
    post: (path: string, header: string, body: string, method = 'POST') =>
      write(headOf(method, path, 'content-type: application/json', header) + body),
    open: () => accepted.size,
    /** Whether the connection of a client's socket is open here. */
    isOpen: ({ localPort }: Socket) => [...accepted].some(({ remotePort }) => remotePort === localPort),
    received: () => [...accepted].reduce((sum, { bytesRead }) => sum + bytesRead, 0),
    [Symbol.asyncDispose]: async () => {
      for (const socket of accepted) socket.destroy();
      await app.close();
    },
  };
}

describe('draining', () => {
  it('does not wait for connections that never asked, and answers what comes in late on a new one', async () => {
    const { app } = fakeApp();
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const open = async () => {
      const socket = connect(port, '127.0.0.1');
      await Promise.all([once(socket, 'connect'), once(app.server, 'connection')]);
      return socket;
    };
    const [silent, late] = [await open(), await open()];
    const closed = app.close();
    late.write(`GET /api/things/x HTTP/1.1\r\nhost: x\r\nauthorization: ${authorized.authorization}\r\n\r\n`);
    const answer = String((await once(late, 'data'))[0]);
    expect(answer).toContain('HTTP/1.1 200');
    expect(answer).toContain('connection: close');
    await Promise.all([once(silent, 'close'), closed]);
  });

  it('answers what arrived while the process was too busy to look', async () => {
    const { app } = fakeApp();
    await app.listen({ host: '127.0.0.1', port: 0 });
    const { port } = app.server.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    await Promise.all([once(socket, 'connect'), once(app.server, 'connection')]);
    const closed = app.close();
    // It begins to close in this turn; connections that stay silent are ended half a second later.
    await new Promise((resolve) => process.nextTick(resolve));
    socket.write(
      `GET /api/things/x HTTP/1.1\r\nhost: x\r\nauthorization: ${authorized.authorization}\r\n\r\n`,
    );
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);
    expect(String((await once(socket, 'data'))[0])).toContain('HTTP/1.1 200');
    await closed;
  });

  it('answers the requests under way and takes no new connections', async () => {
    const { app, answers } = fakeApp();
    const moments = new EventEmitter();
    const goOn = once(moments, 'go on');
    let arrived = 0;
    const allArrived = once(moments, 'all');
    answers['things.get'] = async ({ request }) => {
      arrived += 1;
      if (arrived === 20) moments.emit('all');
      await goOn;
      return { data: { name: String(request.params.name) } };
    };
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const requests = Array.from({ length: 20 }, async (_, at) => {
      const answer = await fetch(`${url}/api/things/${at}`, { headers: authorized });
      return [answer.status, ((await answer.json()) as { data: { name: string } }).data.name];
    });
    await allArrived;
    const closed = app.close();
    await expect.poll(() => fetch(url).catch(() => 'refused')).toBe('refused');
    moments.emit('go on');
    expect(await Promise.all(requests)).toEqual(Array.from({ length: 20 }, (_, at) => [200, String(at)]));
    await closed;
  });
});

describe('browsers', () => {
  it('may call from any origin, without credentials, and read what they need', async () => {
    const { app } = fakeApp();
    const preflight = await app.inject({
      method: 'OPTIONS',
      url: '/app/things',
      headers: { origin: 'https://wallet.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.statusCode).toBe(204);
    expect(preflight.headers).toMatchObject({
      'access-control-allow-origin': '*',
      'access-control-allow-methods': 'OPTIONS, POST',
    });
    for (const name of ['x-payment', 'payment-signature', 'idempotency-key', 'authorization', 'content-type'])
      expect(preflight.headers['access-control-allow-headers']).toContain(name);
    const answer = await app.inject({ method: 'POST', url: '/app/things', body: {} });
    for (const name of [
      'payment-required',
      'payment-response',
      'x-payment-response',
      'location',
      'retry-after',
      'x-request-id',
    ])
      expect(answer.headers['access-control-expose-headers']).toContain(name);
    expect(answer.headers['access-control-allow-credentials']).toBeUndefined();
  });

  it('may read errors too', async () => {
    const answer = await fakeApp().app.inject({ url: '/api/things/x' });
    expect([answer.statusCode, answer.headers['access-control-allow-origin']]).toEqual([401, '*']);
  });

  it('get no preflight for paths that are not there', async () => {
    const answer = await fakeApp().app.inject({ method: 'OPTIONS', url: '/api/nothing' });
    expect(answer.statusCode).toBe(404);
  });

  it('are told not to sniff, frame, cache or run', async () => {
    const { headers } = await fakeApp().app.inject({ url: '/api/things/x', headers: authorized });
    expect(headers).toMatchObject({
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
    });
  });
});

describe('pages', () => {
  it('are there without a token', async () => {
    const { app } = fakeApp();
    expect((await app.inject({ url: '/openapi.json' })).json().openapi).toBe('3.1.0');
    expect((await app.inject({ url: '/healthz' })).json()).toEqual({ status: 'ok' });
  });

  it('are where a browser is led from the root; a program hears that nothing is there', async () => {
    const { app } = fakeApp();
    const accept = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const led = await app.inject({ url: '/', headers: { accept } });
    expect([led.statusCode, led.headers.location]).toEqual([302, '/docs']);
    for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }]) {
      const told = await app.inject({ url: '/', headers });
      expect([told.statusCode, told.json().code]).toEqual([404, 'route_not_found']);
    }
  });

  it('say when the process cannot work', async () => {
    const { createHealth } = await import('@orrery/service-kit');
    const health = createHealth({ clock: systemClock });
    health.register('database', () => ({ status: 'unavailable' }));
    const answer = await fakeApp({ health }).app.inject({ url: '/readyz' });
    expect([answer.statusCode, answer.json().status]).toEqual([503, 'unavailable']);
  });
});
