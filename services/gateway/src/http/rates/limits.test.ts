import { describe, expect, it } from 'vitest';
import { perMinute } from '../../core/rates/token-bucket.js';
import { createLocalLimiter, withFallback } from './limiter.js';

const policy = { name: 'test', burst: 3, perSecond: 2 };

function limited() {
  let now = 0;
  let setBy = 0;
  const clock = { now: () => now + setBy, monotonic: () => now, sleep: async () => undefined };
  const limiter = createLocalLimiter(clock);
  const take = async (subject = 'a') => (await limiter.take(policy, subject)).allowed;
  const set = (byMs: number) => {
    setBy += byMs;
  };
  return { limiter, take, set, pass: (ms: number) => (now += ms) };
}

describe('the token bucket', () => {
  it('allows the burst, then what refills', async () => {
    const { take, pass } = limited();
    expect([await take(), await take(), await take(), await take()]).toEqual([true, true, true, false]);
    pass(499);
    expect(await take()).toBe(false);
    pass(1);
    expect([await take(), await take()]).toEqual([true, false]);
  });

  it('refills when the clock is set back', async () => {
    const { take, pass, set } = limited();
    expect([await take(), await take(), await take(), await take()]).toEqual([true, true, true, false]);
    set(-600_000);
    pass(500);
    expect(await take()).toBe(true);
  });

  it('never holds more than the burst', async () => {
    const { take, pass } = limited();
    await take();
    pass(3_600_000);
    expect([await take(), await take(), await take(), await take()]).toEqual([true, true, true, false]);
  });

  it('counts subjects apart', async () => {
    const { take } = limited();
    for (let i = 0; i < 3; i += 1) await take('a');
    expect([await take('a'), await take('b')]).toEqual([false, true]);
  });

  it('returns the remaining tokens and the waiting time', async () => {
    const { limiter } = limited();
    expect(await limiter.take(policy, 'a')).toEqual({
      allowed: true,
      remaining: 2,
      waitSeconds: 0,
      fullSeconds: 0.5,
    });
    await limiter.take(policy, 'a');
    await limiter.take(policy, 'a');
    expect(await limiter.take(policy, 'a')).toMatchObject({ allowed: false, remaining: 0, waitSeconds: 0.5 });
  });

  it('does not lend time when the clock goes back', async () => {
    const { take, pass } = limited();
    for (let i = 0; i < 3; i += 1) await take();
    pass(-60_000);
    expect(await take()).toBe(false);
  });

  it('knows allowances per minute', () => {
    expect(perMinute('app', 120)).toEqual({ name: 'app', burst: 120, perSecond: 2 });
  });
});

describe('the fallback', () => {
  it('counts locally while the shared counter is unavailable', async () => {
    const { limiter } = limited();
    const away = { take: () => Promise.reject(new Error('away')) };
    const both = withFallback(away, limiter);
    const taken = [];
    for (let i = 0; i < 4; i += 1) taken.push((await both.take(policy, 'a')).allowed);
    expect(taken).toEqual([true, true, true, false]);
  });
});
