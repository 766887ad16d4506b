import { expect, it } from 'vitest';
import type { Entry, Row } from '../world/records.js';
import { boundsOf, stepsOf, trendOf } from './trend.js';

const entry = (seq: number, instanceId: string, set: object) =>
  ({
    seq,
    changes: [{ entitySchema: 'horse', instanceId, op: 'update', set, unset: [] }],
  }) as unknown as Entry;
const row = (id: string, wins: number): Row => ({ id, state: { wins }, changed: {} });
const what = { schema: 'horse', attribute: 'wins', seq: 9 };

it('follows those that have most now, from the first entry that tells of them until now', () => {
  const entries = [
    entry(8, 'B', { wins: 5 }),
    entry(7, 'A', { wins: 2 }),
    entry(6, 'A', { other: 1 }),
    entry(3, 'A', { wins: 1 }),
  ];
  expect(trendOf(entries, [row('A', 2), row('B', 5), row('C', 7)], what)).toEqual([
    {
      id: 'B',
      points: [
        { seq: 8, value: 5 },
        { seq: 9, value: 5 },
      ],
    },
    {
      id: 'A',
      points: [
        { seq: 3, value: 1 },
        { seq: 7, value: 2 },
        { seq: 9, value: 2 },
      ],
    },
  ]);
  expect(trendOf(entries, [row('A', 2)], { ...what, schema: 'rider' })).toEqual([]);
});

it('draws steps: a value holds until the next one', () => {
  const line = {
    id: 'A',
    points: [
      { seq: 1, value: 0 },
      { seq: 3, value: 4 },
      { seq: 5, value: 4 },
    ],
  };
  const bounds = boundsOf([line]);
  expect(bounds).toEqual({ first: 1, last: 5, least: 0, most: 4 });
  expect(stepsOf(line, bounds, { width: 100, height: 50 })).toBe('0,50 50,50 50,0 100,0');
});

it('draws a value that never changes in the middle', () => {
  const line = { id: 'A', points: [{ seq: 2, value: 7 }] };
  expect(stepsOf(line, boundsOf([line]), { width: 100, height: 50 })).toBe('100,25');
});
