import { expect, it } from 'vitest';
import { nameIn, oneOf, pageIn, searchOf } from './search-values.js';

it('reads a name, also one of digits', () => {
  expect(['race', 2026, '', null, {}].map(nameIn)).toEqual(['race', '2026', undefined, undefined, undefined]);
});

it('reads the number of a page', () => {
  expect([1, 2, 2.5, -1, '3', undefined].map(pageIn)).toEqual([
    undefined,
    2,
    undefined,
    undefined,
    undefined,
    undefined,
  ]);
});

it('reads a word that it knows, and leaves out what is undefined', () => {
  const read = searchOf({ status: oneOf(['fired', 'missed']), page: pageIn });
  expect(read({ status: 'fired', page: 2, other: 1 })).toEqual({ status: 'fired', page: 2 });
  expect(Object.keys(read({ status: 'burnt', page: 1 }))).toEqual([]);
});
