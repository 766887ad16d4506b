import { expect, it } from 'vitest';
import { type PartitionLoad, proposeMoves } from './propose-moves.js';

/** Partitions of one database, numbered from a first one, with their rates. */
const at = (home: string, first: number, rates: readonly number[], more: Partial<PartitionLoad> = {}) =>
  rates.map((perHour, place) => ({
    ...{ partition: first + place, home, perHour, entries: perHour, canMove: true },
    ...more,
  }));

it('moves the one partition that makes two databases even', () => {
  const loads = [...at('1', 0, [60, 30, 10]), ...at('2', 3, [40])];
  expect(proposeMoves(loads, ['1', '2'])).toEqual([{ partition: 1, from: '1', to: '2' }]);
});

it('fills a new database with few partitions', () => {
  const loads = at('1', 0, [50, 20, 20, 20, 20, 20]);
  const moves = proposeMoves(loads, ['1', '2']);
  expect(moves).toEqual([
    { partition: 0, from: '1', to: '2' },
    { partition: 1, from: '1', to: '2' },
  ]);
});

it('takes from the next database where the one with the most has one partition that outweighs all', () => {
  const loads = [...at('1', 0, [100]), ...at('2', 1, [30, 30])];
  expect(proposeMoves(loads, ['1', '2', '3'])).toEqual([{ partition: 1, from: '2', to: '3' }]);
});

it('chooses by entries among partitions of the same rate', () => {
  const loads = [
    ...at('1', 0, [10], { entries: 900 }),
    ...at('1', 1, [10], { entries: 500 }),
    ...at('2', 2, [0], { entries: 400 }),
  ];
  expect(proposeMoves(loads, ['1', '2'])).toEqual([{ partition: 1, from: '1', to: '2' }]);
});

it('evens entries where nothing was written lately, and numbers of partitions where nothing was ever written', () => {
  const quiet = [10, 70, 50].flatMap((entries, place) => at('1', place, [0], { entries }));
  expect(proposeMoves(quiet, ['1', '2'])).toEqual([{ partition: 1, from: '1', to: '2' }]);
  expect(proposeMoves(at('1', 0, [0, 0, 0, 0]), ['1', '2'])).toHaveLength(2);
});

it('proposes nothing where databases are nearly even, none can move, or there is one', () => {
  expect(proposeMoves([...at('1', 0, [100, 2]), ...at('2', 2, [98])], ['1', '2'])).toEqual([]);
  expect(proposeMoves(at('1', 0, [50, 50], { canMove: false }), ['1', '2'])).toEqual([]);
  expect(proposeMoves(at('1', 0, [50, 50]), ['1'])).toEqual([]);
  expect(proposeMoves([], ['1', '2'])).toEqual([]);
});
