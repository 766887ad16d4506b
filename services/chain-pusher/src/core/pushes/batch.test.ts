import { hash } from 'node:crypto';
import { expect, it } from 'vitest';
import { batchDigest, isRange, PUSHES_PER_TRANSACTION, withinBytes, withinGrant } from './batch.js';

it('the digest of one push is its own, that of several the hash of their array', () => {
  expect(batchDigest(['aa'])).toBe('aa');
  expect(batchDigest(['aa', 'bb'])).toBe(hash('sha256', '["aa","bb"]', 'hex'));
});

it.each([
  [1, 1, true],
  [3, 2 + PUSHES_PER_TRANSACTION, true],
  [3, 3 + PUSHES_PER_TRANSACTION, false],
  [0, 1, false],
  [2, 1, false],
  ['1', 1, false],
  [1, 1.5, false],
  [1, 2 ** 53, false],
])('from %j to %j is a range: %s', (from, to, expected) => {
  expect(isRange(from, to)).toBe(expected);
});

it('a batch takes pushes up to its bytes, and one of any size', () => {
  const rows = (...sizes: number[]) => sizes.map((bytes) => ({ bytes }));
  expect(withinBytes(rows(24_000, 500, 100))).toEqual(rows(24_000, 500));
  expect(withinBytes(rows(30_000, 1))).toEqual(rows(30_000));
  expect(withinBytes(rows())).toEqual([]);
});

it('a grant bounds those that were never sent before, and ends the batch', () => {
  const rows = [false, true, true, false].map((isNew, at) => ({ isNew, at }));
  const numbers = (granted: number) => withinGrant(rows, granted).map(({ at }) => at);
  expect(numbers(0)).toEqual([0]);
  expect(numbers(1)).toEqual([0, 1]);
  expect(numbers(2)).toEqual([0, 1, 2, 3]);
});
