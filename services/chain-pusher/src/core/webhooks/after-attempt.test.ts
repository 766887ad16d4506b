import { describe, expect, it } from 'vitest';
import { afterAttempt, problemOf } from './after-attempt.js';

const HOUR = 3_600_000;
const fresh = { failures: 0, failingMs: 0 };
const answered = (status: number, retryAfterMs?: number) => ({ status, retryAfterMs, durationMs: 3 });

describe('afterAttempt', () => {
  it.each([200, 201, 204, 299])('takes %s for delivered', (status) =>
    expect(afterAttempt(answered(status), fresh, 0)).toEqual({ step: 'delivered' }),
  );

  it.each([
    [301, 'redirected'],
    [304, 'redirected'],
    [400, 'http_status'],
    [500, 'http_status'],
    [199, 'http_status'],
  ])('tries again after %s', (status, code) =>
    expect(afterAttempt(answered(status), fresh, 1)).toMatchObject({
      step: 'retry',
      delayMs: 5000,
      problem: { code },
    }),
  );

  it('tries again where no answer came', () => {
    const problem = { code: 'timeout', detail: 'No answer came within 10 s.' };
    expect(afterAttempt({ problem, durationMs: 10_000 }, fresh, 0)).toEqual({
      step: 'retry',
      delayMs: 4000,
      problem,
    });
  });

  it('waits longer and longer, up to 12 hours', () => {
    const delays = Array.from({ length: 30 }, (_, failures) =>
      afterAttempt(answered(500), { failures, failingMs: 0 }, 1),
    ).map((after) => (after.step === 'retry' ? after.delayMs : 0));
    expect(delays.slice(0, 3)).toEqual([5000, 20_000, 80_000]);
    expect(delays).toEqual(delays.toSorted((a, b) => a - b));
    expect(delays.at(-1)).toBe(12 * HOUR);
  });

  it('waits as long as the answer asks, up to 12 hours', () => {
    expect(afterAttempt(answered(503, 60_000), fresh, 1)).toMatchObject({ delayMs: 60_000 });
    expect(afterAttempt(answered(503, 1), fresh, 1)).toMatchObject({ delayMs: 5000 });
    expect(afterAttempt(answered(429, 1e15), fresh, 1)).toMatchObject({ delayMs: 12 * HOUR });
  });

  it('gives up after 5 days of failures, and at once where the receiver is gone', () => {
    const before = { failures: 20, failingMs: 5 * 24 * HOUR };
    expect(afterAttempt(answered(500), before, 1)).toMatchObject({
      step: 'disable',
      problem: { code: 'http_status', detail: expect.stringContaining('for 5 days') },
    });
    expect(afterAttempt(answered(500), { ...before, failingMs: before.failingMs - 1 }, 1).step).toBe('retry');
    expect(afterAttempt(answered(410), fresh, 1)).toMatchObject({
      step: 'disable',
      problem: { code: 'gone' },
    });
  });
});

it('says nothing of what was delivered', () => {
  expect(problemOf(answered(200))).toBeUndefined();
});
