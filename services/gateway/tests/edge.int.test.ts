import { EventEmitter, once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { systemClock } from '@orrery/service-kit';
import { describe, expect, it } from 'vitest';
import { perMinute } from '../src/limits/rate-policy.js';
import { authorized, fakeApp } from './support/fake-app.js';

const rates = {
  key: { name: 'key', burst: 2, perSecond: 0.5 },
  address: perMinute('address', 1),
  wallet: perMinute('wallet', 1),
  signIn: perMinute('sign-in', 1),
};

describe('rate limits', () => {
  it('count per key, and say what is left', async () => {
    const { app } = fakeApp({ rates });
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
    const limits = { bodyLimit: 1024, requestTimeoutMs: 1000, headersTimeoutMs: 1000 };
    const send = (trustProxy: string | boolean, forwarded: string) => {
      const { app, lines } = fakeApp({ limits: { ...limits, trustProxy } });
      const headers = { ...authorized, 'x-forwarded-for': forwarded };
      return app
        .inject({ url: '/api/things/x', remoteAddress: '10.0.0.1', headers })
        .then(() => lines.join());
    };
    expect(await send(false, '192.0.2.7')).toContain('"address":"10.0.0.1"');
    expect(await send('10.0.0.0/8', '192.0.2.7')).toContain('"address":"192.0.2.7"');
    expect(await send('172.16.0.0/12', '192.0.2.7')).toContain('"address":"10.0.0.1"');
  });
});

describe('admission', () => {
  it('refuses at once what would only wait, but never a health check', async () => {
    const { app, answers } = fakeApp({ maxInFlight: 1 });
    const moments = new EventEmitter();
    const arrived = once(moments, 'arrived');
    const goOn = once(moments, 'go on');
    answers['things.get'] = async () => {
      moments.emit('arrived');
      await goOn;
      return { data: { name: 'x' } };
    };
    const first = app
      .inject({ url: '/api/things/x', headers: authorized })
      .then((answer) => answer.statusCode);
    await arrived;
    const second = await app.inject({ url: '/api/things', headers: authorized });
    expect([second.statusCode, second.json().code, second.headers['retry-after']]).toEqual([
      503,
      'overloaded',
      '1',
    ]);
    expect((await app.inject({ url: '/healthz' })).statusCode).toBe(200);
    moments.emit('go on');
    expect(await first).toBe(200);
    const third = await app.inject({ url: '/api/things', headers: authorized });
    expect(third.statusCode).toBe(200);
  });
});

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
  }, 5000);

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
    const page = await app.inject({ url: '/docs' });
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.headers['content-security-policy']).toMatch(/^default-src 'none'; style-src 'sha256-/);
    expect((await app.inject({ url: '/healthz' })).json()).toEqual({ status: 'ok' });
  });

  it('say when the process cannot work', async () => {
    const { createHealth } = await import('@orrery/service-kit');
    const health = createHealth({ clock: systemClock });
    health.register('database', () => ({ status: 'unavailable' }));
    const answer = await fakeApp({ health }).app.inject({ url: '/readyz' });
    expect([answer.statusCode, answer.json().status]).toEqual([503, 'unavailable']);
  });
});
