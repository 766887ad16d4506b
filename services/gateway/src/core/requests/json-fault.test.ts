import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { findJsonFault } from './json-fault.js';

describe('findJsonFault', () => {
  it.each([
    ['', 1, 1, 'Expected a value, but the body ends.'],
    ['{"a": }', 1, 7, 'Expected a value, but found "}".'],
    [
      '{\n  "a": 1,\n}',
      3,
      1,
      'Expected a property name in double quotes, but found "}". There is no comma after the last property.',
    ],
    ['[1, ]', 1, 5, 'Expected a value, but found "]". There is no comma after the last value.'],
    [
      "{'a': 1}",
      1,
      2,
      'Expected a property name in double quotes or "}", but found "\'". Names and texts stand in double quotes.',
    ],
    ['{a: 1}', 1, 2, 'Expected a property name in double quotes or "}", but found "a".'],
    ['{"a" 1}', 1, 6, 'Expected ":", but found "1".'],
    ['{"a": 1 "b": 2}', 1, 9, 'Expected "," or the closing bracket, but found "\\"".'],
    ['{"a": 1', 1, 8, 'Expected "," or the closing bracket, but the body ends.'],
    ['{"a": [1}', 1, 9, 'Expected "," or the closing bracket, but found "}".'],
    ['{"a": 1} x', 1, 10, 'Expected the end of the body, but found "x".'],
    ['[01]', 1, 3, 'Expected "," or the closing bracket, but found "1".'],
    ['{"a": "x', 1, 7, 'The text that begins here is not closed with ".'],
    [
      '{"a": "x\ny"}',
      1,
      9,
      'A line break or control character in a text is written as an escape such as \\n.',
    ],
    ['"\\x"', 1, 2, 'This escape is not known: write a backslash as \\\\.'],
    ['\ufeff{}', 1, 1, 'Expected a value, but found "\ufeff". Send the body without a byte order mark.'],
    ['[nul]', 1, 2, 'Expected a value or "]", but found "n".'],
  ])('%j: line %i, column %i', (text, line, column, message) => {
    expect(findJsonFault(text)).toEqual({ line, column, message });
  });

  it('finds nothing in what JSON.parse takes, and something in what it refuses', () => {
    const json = fc
      .json()
      .chain((text) =>
        fc.tuple(fc.constant(text), fc.nat(text.length), fc.constantFrom('', ',', '"', '}', '\\', '0', 'x')),
      );
    fc.assert(
      fc.property(json, ([text, at, put]) => {
        const changed = `${text.slice(0, at)}${put}${text.slice(at + 1)}`;
        expect(findJsonFault(changed) === undefined).toBe(parses(changed));
      }),
    );
  });

  it('takes any depth', () => {
    expect(findJsonFault('['.repeat(500_000))).toMatchObject({ line: 1, column: 500_001 });
  });
});

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
