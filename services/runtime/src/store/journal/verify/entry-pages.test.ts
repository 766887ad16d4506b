import type { HashedEntry } from '@orrery/contracts';
import { expect, test } from 'vitest';
import { groupEntries } from './fold-groups.js';

/** An entry that changes so many instances, beginning with one number. */
const entry = (seq: number, first: number, count: number) => ({
  entry: {
    seq,
    changes: Array.from({ length: count }, (_, n) => ({
      entitySchema: 'horse',
      instanceId: `H${first + n}`,
    })),
  } as unknown as HashedEntry,
  hash: '',
});
const shapes = (...entries: ReturnType<typeof entry>[]) =>
  groupEntries(entries).map(({ entries, names }) => [entries.length, names.size]);

test('entries are looked up together up to 500 instances', () => {
  expect(shapes(entry(1, 0, 2), entry(2, 1, 2), entry(3, 0, 0))).toEqual([[3, 3]]);
  expect(shapes(entry(1, 0, 300), entry(2, 300, 300), entry(3, 300, 1))).toEqual([
    [1, 300],
    [2, 300],
  ]);
  expect(shapes(entry(1, 0, 500), entry(2, 500, 500))).toEqual([
    [1, 500],
    [1, 500],
  ]);
  expect(shapes()).toEqual([]);
});
