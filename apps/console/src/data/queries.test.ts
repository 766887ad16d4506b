import { expect, it } from 'vitest';
import { nextOrder, orderName, whereOf } from './queries.js';

it('a text and a condition are one condition', () => {
  expect(whereOf(' ', '')).toBeUndefined();
  expect(whereOf('7"1', '')).toBe('id.contains("7\\"1")');
  expect(whereOf('', 'instance.wins > 3')).toBe('instance.wins > 3');
  expect(whereOf('7', 'a || b')).toBe('id.contains("7") && (a || b)');
  expect(whereOf('Ab', 'c')).toBe('(id.contains("Ab") || id.contains("ab") || id.contains("AB")) && (c)');
});

it('names that are no words stand in quotes', () => {
  expect(orderName('wins')).toBe('wins');
  expect(orderName('best time')).toBe('"best time"');
  // `id` alone is the key of the instance.
  expect(orderName('id')).toBe('"id"');
});

it('a column is sorted up, then down, then not', () => {
  expect(nextOrder(undefined, 'wins')).toBe('wins');
  expect(nextOrder('speed', 'wins')).toBe('wins');
  expect(nextOrder('wins', 'wins')).toBe('wins desc');
  expect(nextOrder('wins desc', 'wins')).toBeUndefined();
});
