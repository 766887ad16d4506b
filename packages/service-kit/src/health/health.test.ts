import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { StartupError } from '../environment/environment.js';
import { type Clock, systemClock } from '../timing/clock.js';
import { createHealth, startHealthServer } from './health.js';

describe('createHealth', () => {
  it('is ok without checks, and as bad as the worst of them', async () => {
    const health = createHealth({ clock: systemClock });
    expect(await health.readiness()).toEqual({ status: 'ok', checks: {} });
    health.register('postgres', () => ({ status: 'ok' }));
    health.register('redis', async () => ({ status: 'degraded', detail: 'no cache' }));
    expect((await health.readiness()).status).toBe('degraded');
    const remove = health.register('bus', () => ({ status: 'unavailable' }));
    expect(await health.readiness()).toEqual({
      status: 'unavailable',
      checks: {
        postgres: { status: 'ok' },
        redis: { status: 'degraded', detail: 'no cache' },
        bus: { status: 'unavailable' },
      },
    });
    remove();
    expect((await health.readiness()).status).toBe('degraded');
  });

  it('says nothing of what made a check fail', async () => {
    const health = createHealth({ clock: systemClock });
    health.register('postgres', () => {
      throw new Error('connect to 10.0.0.5 as orrery failed');
    });
    expect((await health.readiness()).checks).toEqual({
      postgres: { status: 'unavailable', detail: 'the check failed' },
    });
  });

  it('does not wait for a check that hangs', async () => {
    const clock: Clock = { now: () => 0, monotonic: () => 0, sleep: async () => undefined };
    const health = createHealth({ clock, timeoutMs: 50 });
    health.register('bus', () => new Promise(() => undefined));
    expect((await health.readiness()).checks).toEqual({
      bus: { status: 'unavailable', detail: 'no answer within 50 ms' },
    });
  });

  it('includes the checks of another registry, or that they cannot be had', async () => {
    const health = createHealth({ clock: systemClock });
    health.register('postgres', () => ({ status: 'ok' }));
    const leave = health.include('gateway thread', async () => ({ redis: { status: 'degraded' } }));
    expect(await health.readiness()).toEqual({
      status: 'degraded',
      checks: { postgres: { status: 'ok' }, redis: { status: 'degraded' } },
    });
    expect(await health.ownChecks()).toEqual({ postgres: { status: 'ok' } });
    leave();
    health.include('gateway thread', () => Promise.reject(new Error('gone')));
    expect(await health.readiness()).toMatchObject({
      status: 'unavailable',
      checks: { 'gateway thread': { status: 'unavailable', detail: 'the check failed' } },
    });
  });

  it('shares one run of the checks among those who ask meanwhile', async () => {
    let runs = 0;
    const health = createHealth({ clock: systemClock });
    health.register('postgres', () => {
      runs += 1;
      return { status: 'ok' };
    });
    await Promise.all([health.readiness(), health.readiness()]);
    expect(runs).toBe(1);
  });
});

describe('startHealthServer', () => {
  async function serve(metrics = async () => '') {
    const health = createHealth({ clock: systemClock });
    const server = await startHealthServer({
      host: '127.0.0.1',
      port: 0,
      health,
      metrics,
    });
    onTestFinished(() => server[Symbol.asyncDispose]());
    return {
      health,
      port: server.port,
      get: (path: string) => fetch(`http://127.0.0.1:${server.port}${path}`),
    };
  }

  it('answers liveness, readiness and metrics', async () => {
    const { health, get } = await serve(async () => 'up 1\n');
    expect(await (await get('/healthz')).json()).toEqual({ status: 'ok' });
    expect((await get('/readyz?verbose')).status).toBe(200);
    health.register('bus', () => ({ status: 'unavailable' }));
    expect((await get('/readyz')).status).toBe(503);
    expect(await (await get('/metrics')).text()).toBe('up 1\n');
    expect((await get('/other')).status).toBe(404);
  });

  it('answers a path that is no address', async () => {
    const { port, get } = await serve();
    for (const path of ['//', 'http://[', '*']) {
      const socket = connect(port, '127.0.0.1');
      socket.end(`GET ${path} HTTP/1.1\r\nHost: health\r\nConnection: close\r\n\r\n`);
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 404 /);
    }
    expect((await get('/healthz')).status).toBe(200);
  });

  it('says what to do when the port is taken', async () => {
    const { health, port } = await serve();
    const second = startHealthServer({ host: '127.0.0.1', port, health, metrics: async () => '' });
    await expect(second).rejects.toThrow(StartupError);
    await expect(second).rejects.toThrow(`Port ${port} on 127.0.0.1 is in use`);
  });
});
