import { EventEmitter } from 'node:events';
import { describe, expect, it, vi } from 'vitest';
import { z } from 'zod';
import {
  type Environment,
  natsUrl,
  port,
  readEnvironment,
  StartupError,
} from '../environment/environment.js';
import { type RunServiceOptions, runService } from './run-service.js';
import type { ServiceContext } from './service-context.js';

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];
  readonly errors: string[] = [];
  readonly stderr = { write: (text: string) => this.errors.push(text) };
  exit(code: number) {
    this.exits.push(code);
  }
}

function run(start: RunServiceOptions['start'], env: Record<string, string> = {}) {
  const host = new FakeProcess();
  const lines: string[] = [];
  const started = vi.fn(start);
  const logDestination = { write: (line: string) => lines.push(line) };
  const done = runService({ name: 'catalog', env, start: started, host, logDestination });
  const up = () => vi.waitFor(() => expect(lines.join('')).toContain('"started"'));
  return { host, lines, started, done, up };
}

const service = (onDispose: () => void = () => undefined) => ({
  [Symbol.asyncDispose]: async () => onDispose(),
});

describe('runService', () => {
  it.each(['SIGINT', 'SIGTERM'])('releases last in, first out on %s and exits 0', async (signal) => {
    const order: string[] = [];
    const { host, done, up } = run(async ({ resources, signal: stop }) => {
      resources.add('postgres', () => order.push('postgres'));
      stop.addEventListener('abort', () => order.push('aborted'));
      return service(() => order.push('service'));
    });
    await up();
    host.emit(signal);
    await done;
    expect(order).toEqual(['aborted', 'service', 'postgres']);
    expect(host.exits).toEqual([0]);
  });

  it('exits at once on a second signal', async () => {
    const { host, up } = run(async () => ({
      [Symbol.asyncDispose]: () => new Promise<void>(() => undefined),
    }));
    await up();
    host.emit('SIGINT');
    host.emit('SIGINT');
    expect(host.exits).toEqual([130]);
  });

  it('prints one line and exits 1 on a StartupError, nothing half-started', async () => {
    const order: string[] = [];
    const { host, lines, done } = run(async ({ resources }) => {
      resources.add('postgres', () => order.push('postgres'));
      throw new StartupError('No NATS server answers at nats://bus:4222: start it or set NATS_URL.');
    });
    await done;
    expect(host.errors).toEqual([
      'catalog: No NATS server answers at nats://bus:4222: start it or set NATS_URL.\n',
    ]);
    expect(host.exits).toEqual([1]);
    expect(order).toEqual(['postgres']);
    expect(lines).toEqual([]);
  });

  it('releases everything and exits 1 with one line when the service says later that it cannot go on', async () => {
    const order: string[] = [];
    let fail: ServiceContext['fail'] = () => undefined;
    const { host, done, up } = run(async (context) => {
      fail = context.fail;
      return service(() => order.push('service'));
    });
    await up();
    fail(new StartupError('PostgreSQL ended and does not stay up.'));
    await done;
    expect(order).toEqual(['service']);
    expect(host.errors).toEqual(['catalog: PostgreSQL ended and does not stay up.\n']);
    expect(host.exits).toEqual([1]);
  });

  it('logs an unexpected error of the start with its stack and exits 1', async () => {
    const { host, lines, done } = run(() => Promise.reject(new TypeError('boom')));
    await done;
    expect(host.exits).toEqual([1]);
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'fatal',
      err: { stack: expect.stringContaining('TypeError: boom') },
    });
  });

  it('refuses a wrong variable of the process before it starts anything', async () => {
    const { host, started, done } = run(async () => service(), { LOG_LEVEL: 'loud' });
    await done;
    expect(started).not.toHaveBeenCalled();
    expect(host.errors[0]).toContain('LOG_LEVEL (not valid; expected trace, debug');
    expect(host.exits).toEqual([1]);
  });

  it("names the service's wrong variables with the process's own, before anything is started", async () => {
    const host = new FakeProcess();
    const start = vi.fn(async () => service());
    const settings = (env: Environment) => readEnvironment(z.object({ PORT: port, NATS_URL: natsUrl }), env);
    await runService({ name: 'catalog', env: { PORT: 'x', LOG_LEVEL: 'loud' }, settings, start, host });
    expect(start).not.toHaveBeenCalled();
    expect(host.errors).toHaveLength(1);
    expect(host.errors[0]).toMatch(
      /^catalog: Correct these .*: LOG_LEVEL \(.*; PORT \(.*; NATS_URL \(.*\)\n$/,
    );
    expect(host.exits).toEqual([1]);
  });

  it.each(['uncaughtException', 'unhandledRejection'])('logs an %s, releases and exits 1', async (event) => {
    const order: string[] = [];
    const { host, lines, done, up } = run(async () => service(() => order.push('service')));
    await up();
    host.emit(event, new Error('lost'));
    await done;
    expect(order).toEqual(['service']);
    expect(host.exits).toEqual([1]);
    expect(lines.join('')).toContain('lost');
  });

  it('ends a start that is under way when it is asked to stop', async () => {
    const starting = ({ signal }: ServiceContext) =>
      new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { host, started, done } = run(starting);
    await vi.waitFor(() => expect(started).toHaveBeenCalled());
    host.emit('SIGTERM');
    await done;
    expect(host.exits).toEqual([0]);
    expect(host.errors).toEqual([]);
  });
});
