import { describe, expect, it } from 'vitest';
import { jsonField, rowText, textField } from './batch.js';

describe('a row as text', () => {
  it('is quoted for the array that it stands in', () => {
    expect(rowText([1, 'a', ''])).toBe('"(1,a,)"');
  });

  it('has texts that are quoted for the row and again for the array', () => {
    expect(textField('one, two')).toBe('\\"one, two\\"');
    expect(textField('a"b')).toBe('\\"a\\"\\"b\\"');
    expect(textField('a\\b')).toBe('\\"a\\\\\\\\b\\"');
  });

  it('distinguishes null from an empty text', () => {
    expect(textField(null)).toBe('');
    expect(textField('')).toBe('\\"\\"');
    expect([jsonField(null), jsonField(undefined)]).toEqual(['', '']);
    expect(jsonField('')).toBe('\\"\\"\\"\\"\\"\\"');
  });
});
