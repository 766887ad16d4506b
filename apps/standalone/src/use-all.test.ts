import { createLogger, Resources, type RunningService, StartupError } from '@orrery/service-kit';
import { expect, it, vi } from 'vitest';
import { useAll } from './use-all.js';

const logger = createLogger({ service: 'test', level: 'silent', destination: { write: () => undefined } });

it('releases what has started when another has not, the last first, and tells the reason', async () => {
  const released: string[] = [];
  const service = (name: string, after: Promise<unknown> = Promise.resolve()) =>
    after.then(() => ({ [Symbol.asyncDispose]: async () => void released.push(name) }));
  const resources = new Resources({ logger });
  const failing = Promise.reject(new StartupError('no database'));
  const starting = useAll(resources, {
    catalog: service('catalog', new Promise((resolve) => setImmediate(resolve))),
    runtime: failing,
    scheduler: service('scheduler'),
  });
  await expect(starting).rejects.toThrow('no database');
  await resources.release();
  expect(released).toEqual(['scheduler', 'catalog']);
});

it('gives each service the time that it says it may take to stop', async () => {
  const resources = new Resources({ logger });
  const use = vi.spyOn(resources, 'use');
  const quick: RunningService = { [Symbol.asyncDispose]: async () => undefined };
  const slow: RunningService = { ...quick, stopTimeoutMs: 65_000 };
  await useAll(resources, { catalog: Promise.resolve(quick), gateway: Promise.resolve(slow) });
  expect(use.mock.calls).toEqual([
    ['catalog', quick, undefined],
    ['gateway', slow, 65_000],
  ]);
});
