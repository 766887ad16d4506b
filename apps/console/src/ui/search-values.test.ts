import { expect, it } from 'vitest';
import { defined, nameIn, pageIn, wordIn } from './search-values.js';

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
  expect(wordIn('fired', ['fired', 'missed'])).toBe('fired');
  expect(wordIn('burnt', ['fired', 'missed'])).toBeUndefined();
  expect(defined({ a: 1, b: undefined, c: null })).toEqual({ a: 1, c: null });
});
