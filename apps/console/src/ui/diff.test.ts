import { describe, expect, it } from 'vitest';
import { type DiffRow, diffRows } from './diff.js';

const SIGNS = { same: ' ', changed: '~', added: '+', removed: '-' };
const shown = (rows: readonly DiffRow[]) =>
  rows.map(({ depth, left, right, change }) => {
    const text = change === 'changed' ? `${left} → ${right}` : (right ?? left);
    return `${SIGNS[change]}${'  '.repeat(depth)}${text}`;
  });

describe('the rows of a diff', () => {
  it('show what was changed, added and removed, at its place', () => {
    const left = { wins: 3, speed: 10, tags: ['a', 'b'], gone: { x: 1 } };
    const right = { wins: 4, speed: 10, tags: ['b', 'c'], fresh: [1] };
    expect(shown(diffRows(left, right))).toEqual([
      ' {',
      '~  "wins": 3 → "wins": 4',
      '   "speed": 10',
      '   "tags": [',
      '-    "a"',
      '     "b"',
      '+    "c"',
      '   ]',
      '-  "gone": {',
      '-    "x": 1',
      '-  }',
      '+  "fresh": [',
      '+    1',
      '+  ]',
      ' }',
    ]);
  });

  it('compare texts line by line', () => {
    const rows = diffRows({ prompt: 'one\ntwo\nthree' }, { prompt: 'one\n2\nthree' });
    expect(shown(rows)).toEqual([
      ' {',
      '   "prompt": ',
      '     one',
      '-    two',
      '+    2',
      '     three',
      ' }',
    ]);
  });

  it('show a whole value that is there on one side alone', () => {
    expect(shown(diffRows(undefined, { a: 1 }))).toEqual(['+{', '+  "a": 1', '+}']);
    expect(shown(diffRows({ a: 1 }, undefined))).toEqual(['-{', '-  "a": 1', '-}']);
    expect(shown(diffRows({ a: 1 }, { a: { b: 2 } }))).toEqual([
      ' {',
      '-  "a": 1',
      '+  "a": {',
      '+    "b": 2',
      '+  }',
      ' }',
    ]);
  });
});
