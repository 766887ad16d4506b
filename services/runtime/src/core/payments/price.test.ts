import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { smallestUnits } from './requirements.js';

describe('a price in the smallest unit', () => {
  it.each([
    [0.01, 6, '10000'],
    [0.1, 6, '100000'],
    [1, 6, '1000000'],
    [4.35, 2, '435'],
    [1.005, 2, '101'],
    [0.1 + 0.2, 6, '300001'],
    [0.0000001, 6, '1'],
    [1e-7, 6, '1'],
    [5e-324, 6, '1'],
    [1.5e-6, 6, '2'],
    [1_000_000, 18, `1${'0'.repeat(24)}`],
    [0, 6, '0'],
    [2.5, 0, '3'],
  ])('%s with %i decimals is %s', (priceUsd, decimals, expected) => {
    expect(smallestUnits(priceUsd, decimals)).toBe(expected);
  });

  it('is exact for every number of cents', () => {
    const cents = fc.integer({ min: 0, max: 100_000_000 });
    fc.assert(fc.property(cents, (n) => smallestUnits(n / 100, 6) === String(n * 10_000)));
  });
});
