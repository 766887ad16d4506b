import { connect } from 'node:net';
import { gzipSync } from 'node:zlib';
import { startCpuTime } from '@orrery/contracts/test-support';
import { describe, expect, it } from 'vitest';
import { authorized, fakeApp } from './support/fake-app.js';

const json = { ...authorized, 'content-type': 'application/json' };
const create = (body: string | Buffer, headers: Record<string, string> = json) =>
  fakeApp().app.inject({ method: 'POST', url: '/api/things', headers, body });

const problem = (status: number, code: string, pointer?: string) => ({
  status,
  code,
  ...(pointer !== undefined && { errors: [expect.objectContaining({ pointer })] }),
});

describe('bodies', () => {
  it.each([
    ['not JSON', '{"name":', problem(400, 'invalid_json')],
    ['a byte order mark', '\uFEFF{"name":"x"}', problem(400, 'invalid_json')],
    ['not UTF-8', Buffer.from([0x22, 0xff, 0x22]), problem(400, 'invalid_json')],
    [
      'too deep',
      `{"name":"x","extra":${'['.repeat(40)}${']'.repeat(40)}}`,
      problem(400, 'validation_failed'),
    ],
    [
      'deep enough to overflow a stack',
      '['.repeat(400_000) + ']'.repeat(400_000),
      problem(400, 'validation_failed'),
    ],
    ['a polluting key', '{"name":"x","__proto__":{"a":1}}', problem(400, 'validation_failed', '/__proto__')],
    [
      'a polluting key inside',
      '{"name":"x","extra":{"constructor":1}}',
      problem(400, 'validation_failed', '/extra/constructor'),
    ],
    ['too many values', `[${'1,'.repeat(100_000)}1]`, problem(400, 'validation_failed', '/99999')],
    ['an infinite number', '{"name":"x","extra":1e400}', problem(400, 'validation_failed', '/extra')],
    ['U+0000', '{"name":"x\\u0000"}', problem(400, 'validation_failed', '/name')],
    ['half a surrogate pair', '{"name":"\\ud800"}', problem(400, 'validation_failed', '/name')],
    ['an unknown property', '{"name":"x","nam":1}', problem(400, 'validation_failed', '/nam')],
    [
      'a wrong type',
      '{"name":"x","parts":[{"size":1},{"size":"2"}]}',
      problem(400, 'validation_failed', '/parts/1/size'),
    ],
    ['nothing where something is needed', '', problem(400, 'validation_failed', '')],
    ['null', 'null', problem(400, 'validation_failed', '')],
    ['a bare array', '[]', problem(400, 'validation_failed', '')],
    ['too large', JSON.stringify({ name: 'x'.repeat(1024 * 1024) }), problem(413, 'body_too_large')],
  ])('refuses %s', async (_what, body, expected) => {
    const answer = await create(body);
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(answer.json()).toMatchObject(expected);
    expect(answer.statusCode).toBe(expected.status);
  });

  it('says where a body is not valid JSON', async () => {
    expect((await create('{\n"name": "x",}')).json()).toMatchObject({
      detail:
        'The body is not valid JSON. Line 2, column 13: Expected a property name in double quotes, but found "}". ' +
        'There is no comma after the last property.',
      facts: { line: 2, column: 13 },
    });
    expect((await create(Buffer.from([0x22, 0xff, 0x22]))).json().detail).toBe(
      'The body is not valid UTF-8.',
    );
  });

  it('says the limit of a body that is too large', async () => {
    const { detail, facts } = (await create(JSON.stringify({ name: 'x'.repeat(1024 * 1024) }))).json();
    expect(detail).toBe(`This operation takes a body of at most ${facts.limit} bytes.`);
  });

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/jsonx',
    '',
    ';;',
  ])('refuses the content type "%s"', async (type) => {
    const answer = await create('{"name":"x"}', { ...authorized, 'content-type': type });
    expect(answer.json()).toMatchObject(problem(415, 'unsupported_media_type'));
  });

  it.each(['utf-8', 'UTF8', '"utf-8"', 'utf-8; v=1'])('takes JSON with the charset %s', async (charset) => {
    const headers = { ...json, 'content-type': `application/json; charset=${charset}` };
    expect((await create('{"name":"x"}', headers)).statusCode).toBe(201);
  });

  it.each(['latin1', '"iso-8859-1"', 'utf-16', ''])('refuses the charset %s', async (charset) => {
    const headers = { ...json, 'content-type': `application/json; charset=${charset}` };
    const answer = await create('{"name":"x"}', headers);
    expect(answer.json()).toMatchObject({
      ...problem(415, 'unsupported_media_type'),
      detail: 'Send the body as UTF-8: no other charset is accepted.',
    });
  });

  it('refuses a compressed body, as what it is', async () => {
    const answer = await create(gzipSync('{"name":"x"}'), { ...json, 'content-encoding': 'gzip' });
    expect(answer.json()).toMatchObject({
      ...problem(415, 'unsupported_media_type'),
      detail: 'Send the body without a Content-Encoding.',
    });
    const identity = await create('{"name":"x"}', { ...json, 'content-encoding': 'identity' });
    expect(identity.statusCode).toBe(201);
  });

  it.each(['{}', '"x"', '7', ''])('wants an array where an array is declared, not %s', async (body) => {
    const { app } = fakeApp();
    const answer = await app.inject({ method: 'POST', url: '/api/things/x/bindings', headers: json, body });
    expect(answer.json()).toMatchObject({
      ...problem(400, 'body_must_be_array'),
      detail: 'The body must be an array, also for one element: [{ … }].',
    });
  });

  it('names at most twenty problems, soon', async () => {
    const { app } = fakeApp();
    const body = `[${'1,'.repeat(90_000)}1]`;
    const spentMs = startCpuTime();
    const answer = await app.inject({ method: 'POST', url: '/api/things/x/bindings', headers: json, body });
    expect(answer.json()).toMatchObject(problem(400, 'validation_failed'));
    expect(answer.json().errors.length).toBeLessThanOrEqual(20);
    expect(spentMs()).toBeLessThan(2000);
  });
});

describe('paths, queries and headers', () => {
  it.each([
    ['/api/things?page=0', problem(400, 'validation_failed', '#query/page')],
    ['/api/things?page=1e9', problem(400, 'validation_failed', '#query/page')],
    ['/api/things?limit=101', problem(400, 'validation_failed', '#query/limit')],
    ['/api/things?page=1&page=2', problem(400, 'validation_failed', '#query/page')],
    ['/api/things?pages=1', problem(400, 'validation_failed', '#query/pages')],
    ['/api/things?__proto__=1', problem(400, 'validation_failed', '#query/__proto__')],
    ['/api/things?page[]=1', problem(400, 'validation_failed', '#query/page[]')],
    ['/api/things/%00', problem(400, 'validation_failed', '#path/name')],
    ['/api/things/%ff', problem(400, 'validation_failed')],
    ['/api/things/%zz', problem(400, 'validation_failed')],
    [`/api/things/${'x'.repeat(4000)}`, problem(400, 'validation_failed')],
    ['/api/nothing', problem(404, 'route_not_found')],
    ['/api/things/', problem(404, 'route_not_found')],
    ['//api/things', problem(404, 'route_not_found')],
    ['/API/things', problem(404, 'route_not_found')],
    ['/api/things/../../etc', problem(404, 'route_not_found')],
  ])('refuses %s', async (url, expected) => {
    const answer = await fakeApp().app.inject({ url, headers: authorized });
    expect(answer.json()).toMatchObject(expected);
    expect(answer.statusCode).toBe(expected.status);
  });

  it.each(['%', '%ff', 'x'.repeat(4000)])('lets pages read the refusal of /api/things/%s', async (name) => {
    const answerTo = (path: string) =>
      fakeApp().app.inject({ url: `/api/things/${path}`, headers: authorized });
    const [refused, other] = [await answerTo(name), await answerTo('%00')];
    expect([refused.statusCode, other.statusCode]).toEqual([400, 400]);
    expect(refused.headers['access-control-allow-origin']).toBe('*');
    expect(Object.keys(other.headers).filter((header) => !(header in refused.headers))).toEqual([]);
  });

  it('says of a slash at the end of a path that it is one too many', async () => {
    const detailOf = async (url: string) =>
      (await fakeApp().app.inject({ url, headers: authorized })).json().detail;
    expect(await detailOf('/api/things/')).toMatch(/: leave out the slash at its end, or/);
    expect(await detailOf('/api/things/x/')).toMatch(/: leave out the slash at the end of the path\.$/);
    expect(await detailOf('/api/nothing/')).toMatch(/\/docs lists them/);
  });

  it('says of a repeated parameter that it is one', async () => {
    const answer = await fakeApp().app.inject({ url: '/api/things?page=1&page=2', headers: authorized });
    expect(answer.json().errors).toEqual([
      { pointer: '#query/page', code: 'repeated', message: 'Give this parameter only once.' },
    ]);
  });

  it('names a wrong header by its place', async () => {
    const headers = { ...json, 'idempotency-key': 'k'.repeat(300) };
    const answer = await create('{"name":"x"}', headers);
    expect(answer.json()).toMatchObject(problem(400, 'validation_failed', '#header/idempotency-key'));
  });

  it.each([
    ['PATCH', '/api/things/x', 'DELETE, GET, HEAD, OPTIONS, PUT'],
    ['POST', '/api/things/x', 'DELETE, GET, HEAD, OPTIONS, PUT'],
    ['DELETE', '/api/things', 'GET, HEAD, OPTIONS, POST'],
    ['PROPFIND', '/api/things', 'GET, HEAD, OPTIONS, POST'],
  ])('answers %s %s with what is allowed', async (method, url, allow) => {
    const answer = await fakeApp().app.inject({
      method: method as 'PATCH',
      url,
      headers: { 'content-type': 'text/plain' },
      body: method === 'DELETE' ? '' : 'x',
    });
    expect([answer.statusCode, answer.json().code, answer.headers.allow]).toEqual([
      405,
      'method_not_allowed',
      allow,
    ]);
  });
});

describe('tokens', () => {
  it.each([
    {},
    { authorization: 'key-all' },
    { authorization: 'Basic key-all' },
    { authorization: 'Bearer nonsense' },
  ])('refuses %j before it looks at the body', async (headers) => {
    const { app, seen } = fakeApp();
    const body = 'not json';
    const answer = await app.inject({
      method: 'POST',
      url: '/api/things',
      headers: { ...json, authorization: '', ...headers },
      body,
    });
    expect(answer.json()).toMatchObject(problem(401, 'unauthorized'));
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer/);
    expect(seen).toEqual([]);
  });

  it('refuses a key without the scope', async () => {
    const answer = await create('{"name":"x"}', { ...json, authorization: 'Bearer key-read' });
    expect(answer.json()).toMatchObject(problem(403, 'forbidden'));
  });

  it('asks nobody for a token on public routes', async () => {
    const { app, seen } = fakeApp();
    const answer = await app.inject({ method: 'POST', url: '/app/things', body: {} });
    expect(answer.statusCode).toBe(200);
    expect(seen[0]?.call.caller).toEqual({ kind: 'anonymous' });
  });

  it('writes none into the log', async () => {
    const { app, lines } = fakeApp();
    await app.inject({ url: '/api/things?page=key-secret', headers: { authorization: 'Bearer key-secret' } });
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.join()).not.toContain('key-secret');
  });
});

describe('raw connections', () => {
  const get = (...lines: string[]) =>
    ['GET /api/things/x HTTP/1.1', 'Host: x', 'Authorization: Bearer key-all', ...lines, '', ''].join('\r\n');
  const post = (...lines: string[]) =>
    [
      'POST /api/things HTTP/1.1',
      'Host: x',
      'Authorization: Bearer key-all',
      'Content-Type: application/json',
      ...lines,
    ].join('\r\n');

  it.each([
    ['nonsense', 'nonsense\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['64 KiB of headers', get(`X-Long: ${'x'.repeat(65_536)}`), /^HTTP\/1\.1 431 /],
    [
      'dots in percent',
      get('Connection: close').replace('things/x', 'things/%2e%2e/%2e%2e'),
      /^HTTP\/1\.1 404 /,
    ],
    ['two lengths', post('Content-Length: 2', 'Content-Length: 3', '', '{}'), /^HTTP\/1\.1 400 /],
    [
      'a length and chunks',
      post('Content-Length: 2', 'Transfer-Encoding: chunked', '', '0', '', ''),
      /^HTTP\/1\.1 400 /,
    ],
    ['two tokens', get('Authorization: Bearer key-all', 'Connection: close'), /^HTTP\/1\.1 401 /],
    ['no host', 'GET /api/things/x HTTP/1.1\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['a null byte in the path', 'GET /api/things/\0 HTTP/1.1\r\nHost: x\r\n\r\n', /^HTTP\/1\.1 400 /],
    ['headers that never end', 'GET /api/things/x HTTP/1.1\r\nHost: x\r\nX-Slow: ', /^HTTP\/1\.1 408 /],
    ['a body that never ends', post('Content-Length: 100', '', '{"name":'), /^HTTP\/1\.1 408 /],
    [
      'a path that is no path',
      'GET * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n',
      /^HTTP\/1\.1 4\d\d /,
    ],
    ['an upgrade', get('Connection: upgrade, close', 'Upgrade: websocket'), /^HTTP\/1\.1 (200|4\d\d) /],
  ])('end %s with a client error', async (_what, sent, expected) => {
    const { app } = fakeApp();
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as { port: number };
    expect(await exchange(port, sent)).toMatch(expected);
    await app.close();
  });

  it('are told in a problem document that a host is missing', async () => {
    const { app } = fakeApp();
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as { port: number };
    const answer = await exchange(port, get().replace('Host: x\r\n', ''));
    expect(answer).toContain('"detail":"A request of HTTP/1.1 needs the header Host."');
    expect(answer).toMatch(/x-content-type-options/i);
    const old = get().replace('Host: x\r\n', '').replace('HTTP/1.1', 'HTTP/1.0');
    expect(await exchange(port, old)).toMatch(/^HTTP\/1\.1 200 /);
    await app.close();
  });

  it('are answered, whatever they expect', async () => {
    const { app } = fakeApp();
    await app.listen({ port: 0, host: '127.0.0.1' });
    const { port } = app.server.address() as { port: number };
    expect(await exchange(port, get('Expect: foo', 'Connection: close'))).toMatch(/^HTTP\/1\.1 200 /);
    await app.close();
  });
});

/** Sends bytes and gives what came back once the server has closed the connection. */
async function exchange(port: number, sent: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let received = '';
  socket.on('data', (bytes) => {
    received += bytes.toString();
  });
  socket.on('error', () => undefined);
  socket.write(sent);
  await new Promise((resolve) => socket.once('close', resolve));
  return received;
}
