import { ServiceError } from '@orrery/contracts';
import { expect, test } from 'vitest';
import {
  neededSchema,
  readAggregation,
  readCursor,
  readOrder,
  readWhere,
  tooManyGroups,
  writeCursor,
} from './read-query.js';

const refusalOf = (act: () => unknown): ServiceError => {
  try {
    act();
  } catch (error) {
    if (error instanceof ServiceError) return error;
  }
  throw new Error('not refused');
};
const pointerOf = (act: () => unknown) => refusalOf(act).errors[0]?.pointer;

test('a query that cannot be read is refused where it is wrong', () => {
  expect(readWhere(undefined)).toBeUndefined();
  expect(readWhere('instance.a > 1')?.kind).toBe('test');
  expect(pointerOf(() => readWhere('instance.a >'))).toBe('#query/where');
  expect(readOrder(undefined)).toEqual([]);
  expect(readOrder('wins desc')).toEqual([{ path: ['wins'], isDescending: true }]);
  // The name of an attribute is composed as it is stored; the keys of its value stay as they are.
  expect(readOrder('ne\u0301.ke\u0301')).toEqual([{ path: ['n\u00e9', 'ke\u0301'], isDescending: false }]);
  expect(pointerOf(() => readOrder('wins, , speed'))).toBe('#query/orderBy');
  expect(neededSchema('horse')).toBe('horse');
  expect(pointerOf(() => neededSchema(undefined))).toBe('#query/entitySchema');
});

test('an aggregation counts unless something else is asked for', () => {
  const read = (asked: object) => readAggregation({ entitySchema: 'horse', ...asked });
  expect(read({}).count).toBe(true);
  expect(read({ sum: 'a, b.c' })).toMatchObject({
    count: false,
    sum: [
      { name: 'a', path: ['a'] },
      { name: 'b.c', path: ['b', 'c'] },
    ],
  });
  expect(read({ sum: 'a', count: true }).count).toBe(true);
  expect(pointerOf(() => read({ max: 'a desc' }))).toBe('#query/max');
  expect(pointerOf(() => read({ groupBy: 'id' }))).toBe('#query/groupBy');
  expect(tooManyGroups().code).toBe('query_too_costly');
});

test('a cursor is that of one query', () => {
  const query = ['horse', 'instance.a > 1', 'name, b desc'];
  const place = { id: 'é\u{1F40E}', values: ['x', null] };
  const cursor = writeCursor(query, place);
  expect(readCursor(query, 2, cursor)).toEqual(place);
  expect(readCursor(query, 2, undefined)).toBeUndefined();
  const refused = [
    () => readCursor(['horse', undefined, 'name, b desc'], 2, cursor),
    () => readCursor(query, 1, cursor),
    () => readCursor(query, 2, 'x'),
    () => readCursor(query, 2, Buffer.from('null').toString('base64url')),
    () => readCursor(query, 2, writeCursor(query, { id: 'a', values: [{} as never, null] })),
    () => readCursor(query, 2, writeCursor(query, { id: 'a\u0000', values: [1, null] })),
    () => readCursor(query, 2, writeCursor(query, { id: 'a', values: ['\ud800', null] })),
  ];
  expect(refused.map(pointerOf)).toEqual(refused.map(() => '#query/cursor'));
});
