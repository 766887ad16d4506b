import { expect, it } from 'vitest';
import { shownValue } from './wording.js';

it.each([
  ['7', 'the text "7"'],
  ['a "b"\n', 'the text "a \\"b\\"\\n"'],
  ['', 'an empty text'],
  ['x'.repeat(50), `the text "${'x'.repeat(40)}…"`],
  [0.5, 'the number 0.5'],
  [true, 'true'],
  [null, 'null'],
  [[], 'an empty list'],
  [[1, 2], 'a list of 2'],
  [{ a: 1 }, 'an object'],
])('%j is shown as %s', (value, words) => {
  expect(shownValue(value)).toBe(words);
});
