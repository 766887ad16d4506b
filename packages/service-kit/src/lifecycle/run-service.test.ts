import { EventEmitter } from 'node:events';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { z } from 'zod';
import {
  type Environment,
  natsUrl,
  port,
  readEnvironment,
  StartupError,
} from '../environment/environment.js';
import { systemClock } from '../timing/clock.js';
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

  it('takes a signal that comes twice, as by npm, for one, and exits at once on a later one', async () => {
    const clock = vi.spyOn(systemClock, 'monotonic');
    onTestFinished(() => clock.mockRestore());
    const released = Promise.withResolvers<void>();
    const { host, done, up } = run(async () => ({ [Symbol.asyncDispose]: () => released.promise }));
    await up();
    for (const [at, exits] of [
      [0, []],
      [20, []],
      [999, []],
      [1000, [130]],
    ] as const) {
      clock.mockReturnValue(at);
      host.emit('SIGINT');
      expect(host.exits).toEqual(exits);
    }
    released.resolve();
    await done;
  });

  it('logs the first error that was not caught, and ends however many come while it stops', async () => {
    const { host, lines, done, up } = run(async () => ({
      [Symbol.asyncDispose]: async () => {
        for (let n = 1; n < 5; n++) host.emit('uncaughtException', new Error(`later ${n}`));
      },
    }));
    await up();
    host.emit('uncaughtException', new Error('first'));
    await done;
    expect(lines.filter((line) => line.includes('"fatal"'))).toEqual([expect.stringContaining('first')]);
    expect(host.exits).toEqual([1]);
  });

  it('exits although a listener of the exit throws', async () => {
    const { host, done, up } = run(async () => service());
    const exit = vi.spyOn(host, 'exit').mockImplementationOnce(() => {
      throw new Error('from a listener');
    });
    await up();
    host.emit('SIGTERM');
    await done;
    expect(exit.mock.calls).toEqual([[0], [0]]);
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
