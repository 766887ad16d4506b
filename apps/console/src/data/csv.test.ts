import { expect, it } from 'vitest';
import { readCsv, writeCsv } from './csv.js';

const rows = [
  ['id', 'note'],
  ['A', 'says "hi", then\r\nleaves'],
  ['B', ''],
  [' C ', 'plain'],
];

it('what is written is read again', () => {
  expect(readCsv(writeCsv(rows))).toEqual(rows);
});

it.each([
  [
    'a,b\nc,d',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  [
    'a,b\rc,d\r',
    [
      ['a', 'b'],
      ['c', 'd'],
    ],
  ],
  ['\uFEFFa\r\n\r\n"b"\r\n', [['a'], ['b']]],
  ['a,', [['a', '']]],
  ['"",x', [['', 'x']]],
  ['', []],
])('%j is read as a table', (text, wanted) => {
  expect(readCsv(text)).toEqual(wanted);
});

it('a quote without an end is an error', () => {
  expect(() => readCsv('a,"b\nc')).toThrow('no end');
  expect(() => readCsv('"b"c,d')).toThrow('Text follows');
});

it('reads a long text', () => {
  const long = 'x,1\n'.repeat(50_000);
  expect(readCsv(long)).toHaveLength(50_000);
});
