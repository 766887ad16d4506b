import fc from 'fast-check';
import { expect, it } from 'vitest';
import { findRepeatedKey } from './read-answer.js';

it.each([
  ['{"a": 1, "a": 2}', 'a'],
  ['{"a": {"b": 1}, "b": 2}', undefined],
  ['{"a": [{"b": 1}, {"b": 2}]}', undefined],
  ['[{"a": {"x": "}", "y": "\\"", "x" : 1}}]', 'x'],
  ['{"\\u0061": 1, "a": 2}', 'a'],
  ['{"a\\"": "a", "b": "a", "c": ": {"}', undefined],
  ['"a"', undefined],
])('%s repeats %j', (json, key) => {
  expect(findRepeatedKey(json)).toBe(key);
});

it('finds nothing in what was written from values', () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.constantFrom(0, 2), (value, space) => {
      expect(findRepeatedKey(JSON.stringify(value, null, space))).toBeUndefined();
    }),
  );
});
