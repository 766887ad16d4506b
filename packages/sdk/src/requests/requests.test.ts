import { expect, it, onTestFinished, vi } from 'vitest';
import {
  answering,
  breaking,
  refusing,
  type Step,
  startScriptedServer,
} from '../../tests/scripted-server.js';
import { OrreryError } from '../errors/orrery-error.js';
import { createOrrery } from '../orrery.js';

const AT_ONCE = { headers: { 'retry-after': '0' } };
const WORLD = { path: { idOrAddress: '0xabc' } };

async function against(...steps: Step[]) {
  const server = await startScriptedServer(...steps);
  onTestFinished(() => server[Symbol.asyncDispose]());
  const { received } = server;
  return {
    server,
    received,
    orrery: createOrrery({ url: server.url, token: 'secret' }),
    keys: () => received.map(({ headers }) => headers['idempotency-key']),
  };
}

const errorOf = (promise: Promise<unknown>): Promise<OrreryError> =>
  promise.then(
    () => Promise.reject(new Error('it succeeded')),
    (error) => error,
  );

it('makes a key for each creation and keeps it while the service says that it may be tried again', async () => {
  const busy = refusing(503, 'overloaded', AT_ONCE);
  const { orrery, keys } = await against(busy, busy, answering({ id: 1 }, 201), answering({ id: 2 }, 201));
  expect(await orrery.post('/api/worlds', { body: { name: 'Derby' } })).toMatchObject({ id: 1 });
  await orrery.post('/api/worlds', { body: { name: 'Derby' } });
  const [first, second, third, other] = keys();
  expect(first).toMatch(/^[0-9a-f]{32}$/);
  expect([second, third]).toEqual([first, first]);
  expect(other).not.toBe(first);
});

it("takes the caller's key, and none where the operation takes none", async () => {
  const { orrery, keys } = await against(answering({}));
  await orrery.post('/api/worlds', { body: { name: 'Derby' }, idempotencyKey: 'mine' });
  await orrery.post('/api/keys', { body: { name: 'more', scopes: ['read'] } });
  await orrery.get('/api/worlds/{idOrAddress}', WORLD);
  expect(keys()).toEqual(['mine', undefined, undefined]);
});

it('takes a key that the caller gives as a header', async () => {
  const { orrery, keys } = await against(answering({}));
  const named = (name: string) => ({ body: { name: 'Derby' }, headers: { [name]: 'mine' } });
  await orrery.post('/api/worlds', named('Idempotency-Key'));
  await orrery.post('/api/worlds', named('idempotency-key'));
  await orrery.post('/api/worlds', { ...named('Idempotency-Key'), idempotencyKey: 'option' });
  expect(keys()).toEqual(['mine', 'mine', 'option']);
});

it('gives the whole answer where its warnings are wanted', async () => {
  const beside = { message: 'Published', warnings: [{ code: 'pay_to_address_missing' }] };
  const { orrery, received } = await against(answering({ isPublic: true }, 200, beside));
  const answer = await orrery.answer('post', '/api/worlds/{idOrAddress}/publish', WORLD);
  expect(answer).toMatchObject({ data: { isPublic: true }, ...beside });
  expect(received[0]).toMatchObject({ method: 'POST', url: '/api/worlds/0xabc/publish' });
});

it('repeats what has a key, and what only reads, after a connection that broke in the middle', async () => {
  const { orrery, keys } = await against(breaking, answering({ id: 1 }, 201), breaking, answering({ id: 1 }));
  await orrery.post('/api/worlds', { body: { name: 'Derby' } });
  await orrery.get('/api/worlds/{idOrAddress}', WORLD);
  expect(keys()[0]).toBe(keys()[1]);
  expect(keys()).toHaveLength(4);
});

it('does not repeat a change without a key when nobody knows what became of it', async () => {
  const unknown = refusing(503, 'unavailable', { ...AT_ONCE, facts: { outcome: 'unknown' } });
  const away = refusing(503, 'unavailable', AT_ONCE);
  const busy = refusing(503, 'overloaded', AT_ONCE);
  const { orrery, received } = await against(breaking, unknown, away, busy);
  const publish = () => orrery.post('/api/worlds/{idOrAddress}/publish', WORLD);
  expect(await errorOf(publish())).toMatchObject({ code: 'network_error', status: 0 });
  expect(await errorOf(publish())).toMatchObject({ code: 'unavailable', facts: { outcome: 'unknown' } });
  // A service may fail after a part of its work.
  expect(await errorOf(publish())).toMatchObject({ code: 'unavailable' });
  expect(await errorOf(publish())).toMatchObject({ code: 'overloaded' });
  expect(received).toHaveLength(4);
});

it('repeats such a change when surely nothing was done', async () => {
  const unreached = { ...AT_ONCE, facts: { reached: false } };
  const { orrery, received } = await against(
    refusing(429, 'rate_limited', AT_ONCE),
    refusing(503, 'unavailable', unreached),
    refusing(503, 'overloaded', unreached),
    answering({}),
  );
  await orrery.post('/api/worlds/{idOrAddress}/publish', WORLD);
  expect(received).toHaveLength(4);
});

it.each([
  [409, 'world_in_use', {}],
  [400, 'validation_failed', {}],
  [500, 'internal', {}],
  // The failure is what the key stands for.
  [502, 'ai_output_invalid', {}],
  // The failure has its entry.
  [503, 'unavailable', { ...AT_ONCE, facts: { historyId: 'h' } }],
  // Nobody waits that long.
  [429, 'rate_limited', { headers: { 'retry-after': '3600' } }],
  // Neither seconds nor a date, however `Date.parse` reads it.
  [400, 'validation_failed', { headers: { 'retry-after': '1.5' } }],
  [400, 'validation_failed', { headers: { 'retry-after': '-1' } }],
])('does not repeat %i %s', async (status, code, more) => {
  const { orrery, received } = await against(refusing(status, code, more));
  expect(await errorOf(orrery.post('/api/worlds', { body: { name: 'x' } }))).toMatchObject({ status, code });
  expect(received).toHaveLength(1);
});

it('waits for as long as the service says', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const answers = [
    new Response('{"code":"rate_limited"}', { status: 429, headers: { 'retry-after': '7' } }),
    Response.json({ success: true, data: [] }),
  ];
  const send = vi.fn(async () => answers.shift() ?? Response.error());
  const asked = createOrrery({ url: 'http://localhost', fetch: send }).get('/api/worlds');
  await vi.advanceTimersByTimeAsync(6999);
  expect(send).toHaveBeenCalledTimes(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(await asked).toEqual([]);
});

it.each(['Sun, 06 Nov 2033 08:49:37 GMT', 'Sunday, 06-Nov-33 08:49:37 GMT'])(
  'waits until the date %s',
  async (date) => {
    vi.useFakeTimers({ now: Date.parse('2033-11-06T08:49:30Z') });
    onTestFinished(() => void vi.useRealTimers());
    const headers = { 'retry-after': date };
    const send = vi.fn(async () => new Response('{"code":"overloaded"}', { status: 503, headers }));
    void errorOf(createOrrery({ url: 'http://localhost', fetch: send }).get('/api/worlds'));
    await vi.advanceTimersByTimeAsync(6999);
    expect(send).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(send).toHaveBeenCalledTimes(2);
  },
);

it.each([
  ['0', 2000, 2, 6],
  ['Sun, 06 Nov 1994 08:49:37 GMT', 2000, 2, 6],
  ['1.5', 2000, 2, 6],
  ['-1', 2000, 2, 6],
  // Longer than a timer can be.
  ['99999999999', 3_600_000, 1, 1],
])('is not driven to haste by a Retry-After of %s', async (retryAfter, ms, least, most) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const headers = { 'retry-after': retryAfter };
  const send = vi.fn(async () => new Response('{"code":"overloaded"}', { status: 503, headers }));
  const orrery = createOrrery({ url: 'http://localhost', fetch: send, retryForMs: Infinity });
  void errorOf(orrery.get('/api/worlds'));
  await vi.advanceTimersByTimeAsync(ms);
  expect(send.mock.calls.length).toBeGreaterThanOrEqual(least);
  expect(send.mock.calls.length).toBeLessThanOrEqual(most);
});

it('gives up when its time is over, with the last error', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const send = vi.fn(async () => new Response('{"code":"overloaded"}', { status: 503 }));
  const orrery = createOrrery({ url: 'http://localhost', fetch: send, retryForMs: 10_000 });
  const asked = errorOf(orrery.get('/api/worlds'));
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await asked).toMatchObject({ code: 'overloaded' });
  // 0.2, 0.4, 0.8 … 5 s, each up to half shorter.
  expect(send.mock.calls.length).toBeGreaterThan(5);
  expect(send.mock.calls.length).toBeLessThan(10);
});

it('tells what is wrong, where, and how to find it in the log', async () => {
  const errors = [{ pointer: '/name', code: 'too_small', message: 'Too short.' }];
  const { orrery } = await against(refusing(400, 'validation_failed', { errors }));
  const error = await errorOf(orrery.post('/api/worlds', { body: { name: '' } }));
  expect(error).toBeInstanceOf(OrreryError);
  expect(error).toMatchObject({
    message: 'Refused: validation_failed.',
    code: 'validation_failed',
    status: 400,
    pointers: errors,
    requestId: 'r1',
    retryable: false,
  });
});

it("takes a proxy's page for what it is", async () => {
  const page: Step = (reply) =>
    void reply.writeHead(404, { 'content-type': 'text/html' }).end('<h1>404</h1>');
  const { orrery } = await against(page);
  expect(await errorOf(orrery.get('/api/worlds'))).toMatchObject({ code: 'http_error', status: 404 });
});

const success =
  (body: string, type = 'application/json'): Step =>
  (reply) =>
    void reply.writeHead(200, { 'content-type': type }).end(body);

it.each<[string, number, Step]>([
  ['half of an answer', 200, success('{"success":true,"data":{"id"')],
  ['nothing', 200, success('')],
  ['null', 200, success('null')],
  ['a text', 200, success('"data"')],
  ['an object without data', 200, success('{}')],
  ["another program's error", 200, success('{"code":"overloaded","detail":"Busy."}')],
  ['what has no type', 200, (reply) => void reply.writeHead(200).end('{"success":')],
  ['No Content', 204, (reply) => void reply.writeHead(204).end()],
])('takes no success from %s: a reading is repeated, of a change nobody knows', async (_, status, step) => {
  const { orrery, received } = await against(step, answering({ id: 1 }), step);
  expect(await orrery.get('/api/worlds/{idOrAddress}', WORLD)).toEqual({ id: 1 });
  const error = await errorOf(orrery.post('/api/worlds/{idOrAddress}/publish', WORLD));
  expect(error).toBeInstanceOf(OrreryError);
  expect(error).toMatchObject({ code: 'http_error', status, retryable: true, isUndecided: true });
  expect(received).toHaveLength(3);
});

it('asks once where a page stands in place of the service, and does not know what became of a change', async () => {
  const { orrery, received } = await against(success('<h1>Log in</h1>', 'text/html; charset=utf-8'));
  const page = { code: 'http_error', status: 200, retryable: false, isUndecided: true };
  expect(await errorOf(orrery.get('/api/worlds'))).toMatchObject(page);
  expect(await errorOf(orrery.post('/api/worlds', { body: { name: 'Derby' } }))).toMatchObject(page);
  expect(received).toHaveLength(2);
});

it.each([301, 302, 303, 307, 308])(
  'does not take the answer to a change that was sent on (%i)',
  async (status) => {
    const elsewhere: Step = (reply) => void reply.writeHead(status, { location: '/elsewhere' }).end();
    const { server, orrery, received } = await against(elsewhere, answering([]), elsewhere, answering([]));
    const error = await errorOf(orrery.post('/api/worlds', { body: { name: 'Derby' } }));
    const location = `${server.url}/elsewhere`;
    expect(error).toMatchObject({
      code: 'redirected',
      retryable: false,
      isUndecided: true,
      facts: { location },
    });
    expect(error.message).toContain(location);
    expect(await orrery.get('/api/worlds')).toEqual([]);
    expect(received).toHaveLength(4);
  },
);

it('ends with the signal, also while it waits', async () => {
  const { orrery, received } = await against(
    refusing(503, 'overloaded', { headers: { 'retry-after': '20' } }),
  );
  const leaving = new AbortController();
  const asked = errorOf(orrery.get('/api/worlds', { signal: leaving.signal }));
  await vi.waitFor(() => expect(received).toHaveLength(1));
  const reason = new Error('left');
  leaving.abort(reason);
  expect(await asked).toBe(reason);
});

it('sends the token to /api alone, and asks for it each time', async () => {
  const { server, received } = await against(answering({ historyId: 'h' }));
  const token = vi.fn(() => `token-${token.mock.calls.length}`);
  const orrery = createOrrery({ url: `${server.url}/`, token });
  await orrery.get('/api/me');
  await orrery.get('/api/me');
  const by = { wallet: 'w', message: 'm', signature: 's' };
  await orrery.executePublic({ deployment: '0xabc', event: 'cheer', by });
  expect(received.map(({ url, headers }) => [url, headers.authorization])).toEqual([
    ['/api/me', 'Bearer token-1'],
    ['/api/me', 'Bearer token-2'],
    ['/app/deployments/0xabc/events/cheer/execute', undefined],
  ]);
});

it('encodes names in paths, and refuses those that a URL cannot hold', async () => {
  const { orrery, received } = await against(answering({}));
  const path = { worldAddress: '7', eventName: 'a/b c?ü' };
  await orrery.get('/api/worlds/{worldAddress}/events/{eventName}', { path });
  expect(received[0]?.url).toBe('/api/worlds/7/events/a%2Fb%20c%3F%C3%BC');
  // It would delete the world.
  const up = { worldAddress: '7', eventName: '..' };
  const remove = orrery.delete('/api/worlds/{worldAddress}/events/{eventName}', { path: up });
  expect(await errorOf(remove)).toBeInstanceOf(RangeError);
  expect(received).toHaveLength(1);
});

it.each([
  'localhost:3000',
  'orrery.example',
  'ftp://orrery.example',
  'http://',
  'http:///',
  ' http://127.0.0.1',
  undefined as unknown as string,
])('refuses %s for the address of a server at once', (url) => {
  const create = () => createOrrery({ url });
  expect(create).toThrow(new TypeError(`The url cannot be '${url}': it begins with http:// or https://.`));
});

it.each(['HTTPS://orrery.example', 'http://[::1]:3000/orrery/', '', '/orrery'])('takes "%s"', (url) => {
  expect(createOrrery({ url }).get).toBeTypeOf('function');
});

it('pages a list to its end, however its parameters are left out, and asks for none beyond the last', async () => {
  const page = (count: number, pagination: object): Step =>
    answering(
      Array.from({ length: count }, (_, n) => ({ id: n })),
      200,
      { pagination: { limit: 100, ...pagination } },
    );
  const { orrery, received } = await against(
    page(100, { page: 1, totalPages: 2, total: 200 }),
    page(100, { page: 2, totalPages: 2, total: 200 }),
  );
  const path = { worldAddress: '1', address: '2' };
  const query = { entitySchema: 'horse', where: undefined } as { entitySchema: string };
  const pages = orrery.pages('/api/worlds/{worldAddress}/deployments/{address}/entity-instances', {
    path,
    query,
  });
  let items = 0;
  for await (const { data } of pages) items += data.length;
  expect([items, received.length]).toEqual([200, 2]);
  expect(received.map(({ url }) => new URL(url, 'http://x').searchParams.get('page'))).toEqual(['1', '2']);
});
