import { createLogger, Resources, StartupError } from '@orrery/service-kit';
import { expect, it } from 'vitest';
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
