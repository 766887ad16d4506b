import { describe, expect, it } from 'vitest';
import { positionOf } from './problems.js';

const text = '{\n  "a": { "b/c": [1, "two", { "d": true }] },\n  "e": null\n}';
const at = (pointer: string, given = text) => {
  const { from, to } = positionOf(given, pointer);
  return given.slice(from, to);
};

describe('the position of a JSON pointer', () => {
  it('is the value it leads to', () => {
    expect(at('/e')).toBe('null');
    expect(at('/a/b~1c/1')).toBe('"two"');
    expect(at('/a/b~1c/2/d')).toBe('true');
    expect(at('')).toBe(text);
  });

  it('is the nearest there is where a member is missing', () => {
    expect(at('/a/x')).toBe('{ "b/c": [1, "two", { "d": true }] }');
    expect(at('/a/b~1c/7')).toBe('[1, "two", { "d": true }]');
  });

  it('is found in a text that is not finished', () => {
    expect(at('/a/b', '{ "a": { "b": 12, ')).toBe('12');
    expect(at('/a', '')).toBe('');
  });
});
