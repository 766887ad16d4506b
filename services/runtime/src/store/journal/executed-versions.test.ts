import { expect, it } from 'vitest';
import { databaseThat } from '../tables/database-double.test-support.js';
import { createExecutedVersions } from './executed-versions.js';

const LENGTH = 35_000;
/** A journal whose entry 12,000 has the hash `early`, and the last one `late`; notes the ranges that are read. */
function journal() {
  const ranges: [number, number][] = [];
  const db = databaseThat((_, values) => {
    const [, from, to] = values as [number, number, number];
    ranges.push([from, to]);
    const last = Math.min(to, LENGTH);
    if (from >= LENGTH) return [];
    const hashes = [
      ...(from < 12_000 && to >= 12_000 ? [{ hash: 'early', last: 12_000 }] : []),
      ...(last === LENGTH ? [{ hash: 'late', last }] : []),
    ];
    return [{ hash: null, last }, ...hashes];
  });
  return { ranges, db };
}
const at = (_signal: AbortSignal, work: () => Promise<boolean>) => work();
const never = new AbortController().signal;

it('reads a journal in ranges, no further than to the hash, and each entry once', async () => {
  const { db, ranges } = journal();
  const hasExecuted = createExecutedVersions(db, at as never);
  expect(await hasExecuted(1, 'early', never)).toBe(true);
  expect(ranges).toEqual([
    [0, 10_000],
    [10_000, 20_000],
  ]);
  expect(await hasExecuted(1, 'late', never)).toBe(true);
  expect(await hasExecuted(1, 'early', never)).toBe(true);
  expect(ranges).toHaveLength(4);
  expect(await hasExecuted(1, 'other', never)).toBe(false);
  expect(ranges.slice(4)).toEqual([[LENGTH, LENGTH + 10_000]]);
});

it('ends with its request, and leaves what it has read to the next one', async () => {
  const { db, ranges } = journal();
  const leaving = new AbortController();
  const hasExecuted = createExecutedVersions(db, async (_signal, work) => {
    const found = await work();
    if (ranges.length === 2) leaving.abort(new Error('gone'));
    return found;
  });
  const asked = [hasExecuted(1, 'late', leaving.signal), hasExecuted(1, 'late', never)];
  await expect(asked[0]).rejects.toThrow('gone');
  expect(await asked[1]).toBe(true);
  expect(ranges.map(([from]) => from)).toEqual([0, 10_000, 20_000, 30_000]);
});
