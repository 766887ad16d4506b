import { createHealth, createLogger, Resources, systemClock } from '@orrery/service-kit';
import { describeWithRedis, PATIENT } from '@orrery/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { startLimiter } from '../src/http/rates/limiter.js';

const policy = { name: `test-${process.pid}-${Date.now()}`, burst: 3, perSecond: 0.001 };
let resources = new Resources(PATIENT);
afterEach(async () => {
  await resources.release();
  resources = new Resources(PATIENT);
});

async function start(redisUrl: string) {
  const lines: string[] = [];
  const logger = createLogger({ service: 'gateway', destination: { write: (line) => lines.push(line) } });
  const health = createHealth({ clock: systemClock });
  // A busy machine does not answer within the default.
  const options = { clock: systemClock, logger, health, resources, commandTimeoutMs: 20_000 };
  const limiter = await startLimiter({ redisUrl, ...options });
  return { limiter, health, lines };
}

describeWithRedis('rate limits over Redis', (url) => {
  it('are shared by all replicas', async () => {
    const [{ limiter: one, health }, { limiter: other, health: otherHealth }] = [
      await start(url),
      await start(url),
    ];
    for (const { readiness } of [health, otherHealth])
      await expect.poll(async () => (await readiness()).status).toBe('ok');
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
