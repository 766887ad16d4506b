import { EventEmitter, once } from 'node:events';
import { ServiceError } from '@orrery/contracts';
import { describe, expect, it } from 'vitest';
import { authorized, fakeApp } from './support/fake-app.js';

const json = { ...authorized, 'content-type': 'application/json' };

describe('a route made of an RPC', () => {
  it('passes the decoded request, the caller and the deadline on, and wraps the answer', async () => {
    const { app, seen } = fakeApp();
    const answer = await app.inject({
      method: 'GET',
      url: '/api/things/caf%C3%A9%2Fbar',
      headers: authorized,
    });
    expect(answer.json()).toEqual({ success: true, data: { name: 'café/bar' } });
    expect(answer.statusCode).toBe(200);
    expect(seen[0]).toMatchObject({
      name: 'things.get',
      request: { params: { name: 'café/bar' }, query: {}, headers: {}, body: {} },
      call: { caller: { kind: 'account', accountId: 7, scopes: ['read', 'write', 'execute', 'keys'] } },
    });
    expect(seen[0]?.call.deadline).toBeGreaterThan(Date.now() + 25_000);
  });

  it('takes names of 255 characters, each of four bytes', async () => {
    const { app, seen } = fakeApp();
    const name = '𝔘'.repeat(255);
    const url = `/api/things/${encodeURIComponent(name)}`;
    expect((await app.inject({ method: 'GET', url, headers: authorized })).statusCode).toBe(200);
    expect(seen[0]?.request.params.name).toBe(name);
  });

  it.each([
    ['%2525', '%25'],
    ['a%252Fb', 'a%2Fb'],
    ['a%3Ab', 'a:b'],
    ['%3Fx%23y', '?x#y'],
    ['a+b', 'a+b'],
  ])('decodes %s once', async (segment, name) => {
    const { app, seen } = fakeApp();
    await app.inject({ method: 'GET', url: `/api/things/${segment}`, headers: authorized });
    expect(seen[0]?.request.params.name).toBe(name);
  });

  it('answers 201 with Location, message and ETag', async () => {
    const { app, answers } = fakeApp();
    answers['things.create'] = async () => ({ data: { name: 'a/b' }, message: 'made', etag: '3' });
    const answer = await app.inject({
      method: 'POST',
      url: '/api/things',
      headers: json,
      body: { name: 'a/b' },
    });
    expect(answer.statusCode).toBe(201);
    expect(answer.headers).toMatchObject({ location: '/api/things/a%2Fb', etag: '"3"' });
    expect(answer.json()).toEqual({ success: true, data: { name: 'a/b' }, message: 'made' });
  });

  it('passes a reply on of which nothing was read, but for its ETag', async () => {
    const { app, answers } = fakeApp();
    answers['things.get'] = async ({ call }) => {
      expect(call.passesOn).toBe(true);
      return { data: undefined, text: '{"data":{"name":"é"},"etag":"3"}' };
    };
    const answer = await app.inject({ method: 'GET', url: '/api/things/a', headers: authorized });
    expect(answer.headers).toMatchObject({
      etag: '"3"',
      'content-type': 'application/json; charset=utf-8',
      'content-length': '37',
    });
    expect([answer.statusCode, answer.body]).toEqual([200, '{"success":true,"data":{"name":"é"}}']);
  });

  it('answers lists with pagination', async () => {
    const { app, answers } = fakeApp();
    const pagination = { page: 1, limit: 20, total: 0, totalPages: 0 };
    answers['things.list'] = async () => ({ data: [], pagination });
    const answer = await app.inject({ method: 'GET', url: '/api/things', headers: authorized });
    expect(answer.json()).toEqual({ success: true, data: [], pagination });
  });

  it('answers 202 to what was only taken on', async () => {
    const { app, answers } = fakeApp();
    answers['things.open'] = async () => ({ data: { later: true, executionId: 'e' } });
    const answer = await app.inject({ method: 'POST', url: '/app/things', body: {} });
    expect(answer.statusCode).toBe(202);
    expect(answer.headers['preference-applied']).toBe('respond-async');
  });

  it('reads only the headers that the operation declares', async () => {
    const { app, seen } = fakeApp();
    const headers = { ...json, 'Idempotency-Key': 'k', 'if-match': '"1"' };
    await app.inject({ method: 'POST', url: '/api/things', headers, body: { name: 'x' } });
    expect(seen[0]?.request.headers).toEqual({ 'idempotency-key': 'k' });
  });

  it('needs no body where none is declared, whatever the content type says', async () => {
    const { app, seen } = fakeApp();
    const answer = await app.inject({ method: 'DELETE', url: '/api/things/x', headers: json });
    expect(answer.statusCode).toBe(200);
    expect(seen[0]?.request.body).toEqual({});
  });

  it('answers HEAD like GET, without a body', async () => {
    const { app } = fakeApp();
    const answer = await app.inject({ method: 'HEAD', url: '/api/things/x', headers: authorized });
    expect(answer.statusCode).toBe(200);
    expect(answer.body).toBe('');
  });

  it('returns the request id that came, or a new one, and logs it', async () => {
    const { app, lines, seen } = fakeApp();
    const given = await app.inject({
      url: '/api/things/x',
      headers: { ...authorized, 'x-request-id': 'abc-1' },
    });
    expect(given.headers['x-request-id']).toBe('abc-1');
    expect(seen[0]?.call.requestId).toBe('abc-1');
    expect(lines.some((line) => JSON.parse(line).requestId === 'abc-1')).toBe(true);
    for (const bad of ['', 'a b', 'x'.repeat(129), 'ü']) {
      const answer = await app.inject({
        url: '/api/things/x',
        headers: { ...authorized, 'x-request-id': bad },
      });
      expect(answer.headers['x-request-id']).toMatch(/^[0-9a-f-]{36}$/);
    }
  });

  it('gives the call up when the client goes away, logs it once and lets the next one in', async () => {
    const { app, answers, lines } = fakeApp({ maxInFlight: 1 });
    const moments = new EventEmitter();
    const arrived = once(moments, 'arrived');
    const givenUp = once(moments, 'given up');
    answers['things.get'] = async ({ call }) => {
      call.signal.addEventListener('abort', () => moments.emit('given up'));
      moments.emit('arrived');
      await givenUp;
      throw new ServiceError('deadline_exceeded');
    };
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const client = new AbortController();
    const request = fetch(`${url}/api/things/x`, { headers: authorized, signal: client.signal }).catch(
      () => undefined,
    );
    await arrived;
    client.abort();
    await request;
    await givenUp;
    expect(lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request')).toMatchObject([
      { route: '/api/things/:name', aborted: true, accountId: 7 },
    ]);
    expect((await fetch(`${url}/api/things`, { headers: authorized })).status).toBe(200);
    await app.close();
    expect(lines.at(-1)).toContain('"status":200');
    expect(lines.at(-1)).not.toContain('aborted');
    expect(lines.join()).not.toContain('request refused');
  });
});

describe('errors of a service', () => {
  it('become problem documents with the members of the envelope', async () => {
    const { app, answers } = fakeApp();
    answers['things.get'] = async () => {
      const errors = [{ pointer: '/bindings/0/event', code: 'unknown', message: 'no such event' }];
      throw new ServiceError('unknown_event', 'There is no such event', { errors, facts: { list: ['a'] } });
    };
    const headers = { ...authorized, 'x-request-id': 'r1' };
    const answer = await app.inject({ url: '/api/things/x?', headers });
    expect(answer.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(answer.statusCode).toBe(400);
    expect(answer.json()).toEqual({
      success: false,
      error: 'There is no such event',
      code: 'unknown_event',
      type: 'urn:orrery:problem:unknown_event',
      title: 'No such event',
      status: 400,
      detail: 'There is no such event',
      instance: '/api/things/x',
      requestId: 'r1',
      errors: [{ pointer: '/bindings/0/event', code: 'unknown', message: 'no such event' }],
      facts: { list: ['a'] },
    });
  });

  it('tell nothing of what is our own fault, and log it', async () => {
    const { app, answers, lines } = fakeApp();
    answers['things.get'] = async () => {
      throw new Error('select secret from gateway.keys');
    };
    const answer = await app.inject({ url: '/api/things/x', headers: authorized });
    expect(answer.statusCode).toBe(500);
    expect(answer.body).not.toMatch(/secret|gateway\.keys|at /);
    expect(lines.join()).toContain('select secret from gateway.keys');
  });

  it.each([
    ['rate_limited', 429, { retryAfterSeconds: 2.1 }, '3'],
    ['unavailable', 503, {}, '1'],
  ] as const)('say when to come again after %s', async (code, status, facts, seconds) => {
    const { app, answers } = fakeApp();
    answers['things.get'] = async () => {
      throw new ServiceError(code, undefined, { facts });
    };
    const answer = await app.inject({ url: '/api/things/x', headers: authorized });
    expect([answer.statusCode, answer.headers['retry-after']]).toEqual([status, seconds]);
  });

  it('carry the payment requirements of a 402 at the top', async () => {
    const { app, answers } = fakeApp();
    answers['things.open'] = async () => {
      throw new ServiceError('payment_required', undefined, {
        facts: { x402Version: 1, accepts: [], status: 1 },
      });
    };
    const answer = await app.inject({ method: 'POST', url: '/app/things', body: {} });
    expect(answer.json()).toMatchObject({
      x402Version: 1,
      accepts: [],
      status: 402,
      code: 'payment_required',
    });
  });
});
