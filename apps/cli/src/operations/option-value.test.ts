import { describe, expect, it } from 'vitest';
import { readValue } from '../documents/read-document.js';
import { optionValue, readPairs } from './option-value.js';

describe('a value that is typed', () => {
  it('is JSON where it is JSON, otherwise a text', () => {
    expect(['3', '0.5', 'true', 'null', '"3"', '{"a":[1]}'].map(readValue)).toEqual([
      3,
      0.5,
      true,
      null,
      '3',
      { a: [1] },
    ]);
    expect(['HORSE_1', '0xab', '', '007', '{a', '12345678901234567890'].map(readValue)).toEqual([
      'HORSE_1',
      '0xab',
      '',
      '007',
      '{a',
      '12345678901234567890',
    ]);
  });

  it('is no number that JSON would change', () => {
    expect(() => readValue('1e400')).toThrow('1e400, line 1, column 1: The number 1e400 is too large.');
    expect(() => readValue('{"a":[1,-1e999]}')).toThrow('The number -1e999 is too large.');
    expect(() => readValue('[12345678901234567890]')).toThrow('would be sent as 12345678901234567000');
    expect(() => readPairs(['speed=1e400'])).toThrow('too large');
    expect(readValue('{"a":"1e400"}')).toEqual({ a: '1e400' });
  });

  it('comes in pairs, whose values may hold the sign', () => {
    expect(readPairs(['winner=HORSE_1', 'laps=3', 'note=a=b', 'empty='])).toEqual({
      winner: 'HORSE_1',
      laps: 3,
      note: 'a=b',
      empty: '',
    });
    expect(() => readPairs(['winner'])).toThrow(
      '"winner" is no pair: write key=value, such as winner=HORSE_1.',
    );
    expect(() => readPairs(['a=1', 'a=2'])).toThrow('"a" is given twice.');
  });

  it('becomes what its member is', async () => {
    const value = (kind: Parameters<typeof optionValue>[0]['kind'], text: string) =>
      optionValue({ name: 'x', kind }, text);
    expect(await value('number', '2.5')).toBe(2.5);
    expect(await value('flag', 'true')).toBe(true);
    expect(await value('list', 'racing, sport')).toEqual(['racing', 'sport']);
    expect(await value('list', '["a, b"]')).toEqual(['a, b']);
    expect(await value('json', '{min: 0}')).toEqual({ min: 0 });
    expect(await value('value', '0')).toBe(0);
    await expect(value('number', 'many')).rejects.toThrow('x is a number, not "many".');
    await expect(value('number', '1e400')).rejects.toThrow('x is a number, not "1e400".');
    await expect(value('number', '12345678901234567890')).rejects.toThrow('x is a number');
    await expect(value('flag', 'yes')).rejects.toThrow('x is true or false, not "yes".');
    await expect(value('json', 'no-such-file')).rejects.toThrow(
      /^There is no file \/.*\/no-such-file: give a file/,
    );
  });
});
