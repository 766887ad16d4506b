import { expect, it } from 'vitest';
import { asSentence, quoted } from './error-text.js';

it.each([
  ['invalid value', 'Invalid value.'],
  ['Already one.', 'Already one.'],
  [' why? ', 'Why?'],
])('makes %j a sentence', (message, sentence) => {
  expect(asSentence(message)).toBe(sentence);
});

it.each([
  ['abcd', 4, 'abcd'],
  ['abcde', 4, 'abcd…'],
  ['abc\u{1f40e}', 4, 'abc…'],
  ['ab\u{1f40e}c', 4, 'ab\u{1f40e}…'],
])('quotes %j within %i units without half a character', (text, length, expected) => {
  expect(quoted(text, length)).toBe(expected);
  expect(quoted(text, length).isWellFormed()).toBe(true);
});
