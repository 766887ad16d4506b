import { createHealth, createLogger, Resources, systemClock } from '@orrery/service-kit';
import { describeWithRedis } from '@orrery/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { startLimiter } from '../src/limits/start-limiter.js';

const policy = { name: `test-${process.pid}-${Date.now()}`, burst: 3, perSecond: 0.001 };
let resources = new Resources();
afterEach(async () => {
  await resources.release();
  resources = new Resources();
});

async function start(redisUrl: string) {
  const lines: string[] = [];
  const logger = createLogger({ service: 'gateway', destination: { write: (line) => lines.push(line) } });
  const health = createHealth({ clock: systemClock });
  const limiter = await startLimiter({ redisUrl, clock: systemClock, logger, health, resources });
  return { limiter, health, lines };
}

describeWithRedis('rate limits over Redis', (url) => {
  it('are shared by all replicas', async () => {
    const { limiter: one, health } = await start(url);
    const { limiter: other } = await start(url);
    await expect.poll(async () => (await health.readiness()).status).toBe('ok');
    await expect.poll(async () => (await other.take(policy, 'warm')).allowed).toBe(true);
    const taken = [];
    for (const limiter of [one, other, one, other]) taken.push((await limiter.take(policy, 'key')).allowed);
    expect(taken).toEqual([true, true, true, false]);
  });
});

describe('without its Redis', () => {
  it('a gateway counts by itself, says so once and in its readiness', async () => {
    const { limiter, health, lines } = await start('redis://127.0.0.1:1');
    const taken = [];
    for (let i = 0; i < 4; i += 1) taken.push((await limiter.take(policy, 'alone')).allowed);
    expect(taken).toEqual([true, true, true, false]);
    await expect.poll(() => lines.length).toBe(1);
    await expect
      .poll(async () => (await health.readiness()).checks['gateway redis']?.status)
      .toBe('degraded');
    expect(lines).toHaveLength(1);
  });
});
