import { expect, it } from 'vitest';
import { listOf, listText, numberIn, readNumber, whyNoNumber } from './typed-text.js';

it('reads numbers as they are typed', () => {
  expect(['5', ' -1.5 ', '1e3', ' '].map(readNumber)).toEqual([5, -1.5, 1000, undefined]);
});

it.each(['1e', '5-', '1,5', '7O', 'Infinity', '1e999', 'NaN'])('reads no number in %s', (text) => {
  expect(numberIn(text)).toBeUndefined();
  expect(whyNoNumber(text)).toBe('Give a number.');
  expect(() => readNumber(text)).toThrow(RangeError);
});

it('asks for a whole number where one is meant', () => {
  expect(whyNoNumber('1.5', true)).toBe('Give a whole number.');
  expect(whyNoNumber('1.5')).toBeUndefined();
  expect(whyNoNumber('', true)).toBeUndefined();
});

it.each([
  [['racing', 'horses'], 'racing, horses'],
  [['Smith, John', 'x'], '["Smith, John","x"]'],
  [['', ' a '], '[""," a "]'],
  [['["a"]'], '["[\\"a\\"]"]'],
  [['[a]'], '[a]'],
  [['two\nlines'], '["two\\nlines"]'],
  [[], ''],
])('a list of texts is the same after it was shown: %j', (list, text) => {
  expect(listText(list)).toBe(text);
  expect(listOf(text)).toEqual(list);
});

it('reads lists as they are typed', () => {
  expect(listOf(' a, b c ,, ')).toEqual(['a', 'b c']);
  expect(listOf('a,b\n c', /[\s,]+/)).toEqual(['a', 'b', 'c']);
  expect(listText(['top speed'], /[\s,]+/)).toBe('["top speed"]');
});
