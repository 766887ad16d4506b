import { expect, it } from 'vitest';
import type { JournalEntry } from './entry-words.js';
import type { Tail } from './queries.js';
import { advanced, withRecent } from './tail.js';

const entry = (seq: number) => ({ seq, status: seq % 2 === 0 ? 'failed' : 'succeeded' }) as JournalEntry;
const entries = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => entry(from + index));
const seqs = (list: readonly JournalEntry[]) => list.map(({ seq }) => seq);
const empty: Tail = { head: 10, recent: [], generation: 0 };

it('goes on with what is new', () => {
  const tail = advanced(empty, entries(9, 12));
  expect([tail.head, seqs(tail.recent), tail.generation]).toEqual([12, [11, 12], 0]);
  expect(advanced(tail, entries(1, 12))).toBe(tail);
});

it('is bounded, and says when what was read is not enough any more', () => {
  let tail = empty;
  for (let seq = 11; seq <= 1000; seq++) tail = advanced(tail, [entry(seq)]);
  expect(tail.recent.length).toBeLessThanOrEqual(400);
  expect(tail.recent.at(-1)?.seq).toBe(1000);
  expect(tail.generation).toBeGreaterThan(1);
});

it('adds to what was read what it lacks', () => {
  const read = entries(8, 11).reverse();
  expect(seqs(withRecent(read, entries(11, 13), () => true))).toEqual([13, 12, 11, 10, 9, 8]);
  expect(seqs(withRecent(read, entries(11, 14), ({ status }) => status === 'failed'))).toEqual([
    14, 12, 11, 10, 9, 8,
  ]);
  expect(seqs(withRecent(read, [], () => true))).toEqual([11, 10, 9, 8]);
});
