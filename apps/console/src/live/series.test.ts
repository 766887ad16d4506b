import { expect, it } from 'vitest';
import type { JournalEntry } from './entry-words.js';
import { nearestSeq, numbersIn, plotColumns, pointsOf } from './lines.js';

const entry = (seq: number, stateChanges: JournalEntry['stateChanges']) =>
  ({ seq, executedAt: new Date(seq * 1000).toISOString(), stateChanges }) as JournalEntry;

it('takes the values that entries gave an attribute, oldest first', () => {
  const entries = [
    entry(5, { 'horse:A': null }),
    entry(4, { 'horse:A': { wins: 'x' } }),
    entry(3, { 'horse:A': { name: 'y' } }),
    entry(2, { 'horse:B': { wins: 7 } }),
    entry(1, { 'horse:A': { wins: 1 } }),
  ];
  expect(pointsOf(entries, 'horse:A', 'wins')).toEqual([
    { seq: 1, time: 1, value: 1 },
    { seq: 4, time: 4, value: null },
    { seq: 5, time: 5, value: null },
  ]);
});

it('lines hold their values where others change', () => {
  const a = [
    { seq: 1, time: 10, value: 1 },
    { seq: 5, time: 50, value: 2 },
  ];
  const b = [{ seq: 3, time: 30, value: 9 }];
  expect(plotColumns([a, b], 'seq')).toEqual([
    [1, 3, 5],
    [1, 1, 2],
    [null, 9, 9],
  ]);
  expect(plotColumns([a, b], 'time')[0]).toEqual([10, 30, 50]);
  expect(plotColumns([], 'seq')).toEqual([[]]);
  expect(plotColumns([a], 'seq', 9)).toEqual([
    [1, 5, 9],
    [1, 2, 2],
  ]);
  expect(plotColumns([a], 'time', 9)[0]).toEqual([10, 50]);
  expect(plotColumns([], 'seq', 9)).toEqual([[]]);
});

it('finds the entry that was pointed at', () => {
  const line = [
    { seq: 1, time: 10, value: 1 },
    { seq: 5, time: 50, value: 2 },
  ];
  expect(nearestSeq([line], 'time', 44)).toBe(5);
  expect(nearestSeq([line], 'seq', 2)).toBe(1);
  expect(nearestSeq([], 'seq', 2)).toBeUndefined();
});

it('knows which attributes are numbers', () => {
  const entries = [
    entry(1, { 'horse:A': { wins: 1, name: 'x', age: 3 }, 'horse:B': { weight: 1 } }),
    entry(2, { 'horse:A': null }),
  ];
  expect(numbersIn([{ instance: 'horse:A', entries }])).toEqual(['age', 'wins']);
  const later = [...entries, entry(3, { 'horse:A': { wins: 2 } })];
  expect(numbersIn([{ instance: 'horse:A', entries: later }])).toEqual(['wins', 'age']);
});
