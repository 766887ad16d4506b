import { describe, expect, it } from 'vitest';
import { nextAttemptAt, repetitionAt } from './retry-rules.js';

describe('nextAttemptAt', () => {
  it('allows three attempts, further and further apart', () => {
    expect([1, 2, 3].map((attempt) => nextAttemptAt(attempt, 1000, null))).toEqual([6000, 21_000, undefined]);
  });

  it('leaves an attempt room before the next due time', () => {
    expect(nextAttemptAt(1, 0, 10_000)).toBe(5000);
    expect(nextAttemptAt(1, 0, 9_999)).toBeUndefined();
  });
});

it('an unknown outcome is asked for less and less often, twice a minute at least', () => {
  expect([0, 1, 2, 5, 6, 1000].map((repeats) => repetitionAt(repeats, 0, null))).toEqual([
    500, 1000, 2000, 16_000, 30_000, 30_000,
  ]);
});

it('it is asked for shortly before the next due time, so that what has ended is no overlap', () => {
  expect([30_500, 20_000, 1200, 900].map((nextDue) => repetitionAt(9, 0, nextDue))).toEqual([
    29_500, 19_000, 500, 500,
  ]);
  expect(repetitionAt(9, 0, -1)).toBe(30_000);
  expect(repetitionAt(0, 0, 900)).toBe(500);
});
