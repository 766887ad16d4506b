import { expect, it } from 'vitest';
import { BLOCK, blockOf, blockQuery, blocksOfRows, isOpen, rowOfSeq, seqOfRow } from './queries.js';

it('every entry is in one block, which its query reads', () => {
  for (const seq of [1, BLOCK, BLOCK + 1, 2 * BLOCK, 1234]) {
    const { after, limit } = blockQuery(blockOf(seq));
    // `after` lists smaller numbers, newest first.
    expect(seq).toBeLessThan(after);
    expect(seq).toBeGreaterThanOrEqual(after - limit);
  }
});

it('a block is open until its last entry is there', () => {
  expect(isOpen(0, BLOCK - 1)).toBe(true);
  expect(isOpen(0, BLOCK)).toBe(false);
  expect(isOpen(1, BLOCK)).toBe(true);
});

it('rows begin with the newest entry', () => {
  expect(seqOfRow(0, 50)).toBe(50);
  expect(rowOfSeq(1, 50)).toBe(49);
});

it('rows that are seen lie in few blocks', () => {
  expect(blocksOfRows(0, 9, 50)).toEqual([1]);
  expect(blocksOfRows(5, 20, 50)).toEqual([1, 0]);
  expect(blocksOfRows(0, 500, 50)).toEqual([1, 0]);
  expect(blocksOfRows(0, -1, 0)).toEqual([]);
});
