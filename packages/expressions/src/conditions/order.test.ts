import { expect, test } from 'vitest';
import { compareInOrder, orderValues, parseOrder, valueAt } from './order.js';

const parsed = (text: string) => {
  const read = parseOrder(text);
  return read.ok ? read.order : read.problem;
};

test('an order is read as it is written', () => {
  expect(parsed('wins desc, stats.speed ,"a, b" ASC,id')).toEqual([
    { path: ['wins'], isDescending: true },
    { path: ['stats', 'speed'], isDescending: false },
    { path: ['a, b'], isDescending: false },
    { path: null, isDescending: false },
  ]);
  expect(parsed('"id"')).toEqual([{ path: ['id'], isDescending: false }]);
  expect(parsed('"ne\u0301"')).toEqual([{ path: ['n\u00e9'], isDescending: false }]);
});

test.each([
  '',
  ' ',
  ',',
  'a,',
  'a b',
  'a desc desc',
  'a..b',
  '"a',
  '"\\x"',
  '"\\u0000"',
  '"\\ud800"',
  'a,b,c,d,e',
])('refuses %j', (text) => {
  expect(parsed(text)).toEqual(expect.any(String));
});

test('values of all kinds have one order, and what is missing is last either way', () => {
  const values = [1, 'a', true, null, 'B', false, 2, {}, '\u{1F40E}', '\uffee'];
  const inOrder = (text: string) => {
    const order = parsed(text);
    if (typeof order === 'string') throw new Error(order);
    const placed = values.map((v) => ({ v, key: orderValues(order, 'id', { v }) }));
    return placed.sort((a, b) => compareInOrder(order, a.key, b.key)).map(({ v }) => v);
  };
  expect(inOrder('v')).toEqual([1, 2, 'B', 'a', '\uffee', '\u{1F40E}', false, true, null, {}]);
  expect(inOrder('v desc')).toEqual([true, false, '\u{1F40E}', '\uffee', 'a', 'B', 2, 1, null, {}]);
});

test('a text is compared by its first 256 characters', () => {
  const long = '\u{1F40E}'.repeat(256);
  expect(orderValues([{ path: ['t'], isDescending: false }], 'x', { t: `${long}z` })).toEqual([long]);
});

test('a path leads through objects alone', () => {
  const state = { a: { b: 1 }, l: [5] };
  expect([['a', 'b'], ['a', 'c'], ['l', '0'], ['constructor']].map((path) => valueAt(state, path))).toEqual([
    1,
    undefined,
    undefined,
    undefined,
  ]);
});
