import { expect, it } from 'vitest';
import { columnsOf, ordered, orderText } from './columns.js';

const row = (id: string, state: Record<string, unknown>) => ({ id, state, changed: {} });

it('has numbers first, then what is short, and long or nested values last', () => {
  const rows = [
    row('A', { list: [1], name: 'x', text: 'y'.repeat(200), wins: 3, isOut: false }),
    row('B', { name: 'z', wins: null, debt: -1 }),
  ];
  expect(columnsOf(rows).map(({ name, kind, most }) => [name, kind, most])).toEqual([
    ['wins', 'number', 3],
    ['debt', 'number', undefined],
    ['name', 'text', undefined],
    ['isOut', 'boolean', undefined],
    ['list', 'other', undefined],
    ['text', 'other', undefined],
  ]);
  expect(columnsOf([])).toEqual([]);
});

it('orders as queries do: numbers, texts, booleans; what is missing last, ties by id', () => {
  const rows = [
    row('e', {}),
    row('d', { a: true }),
    row('c', { a: 'x' }),
    row('b', { a: 2 }),
    row('a', { a: 2 }),
  ];
  const ids = (isDescending: boolean) => ordered(rows, { name: 'a', isDescending }).map(({ id }) => id);
  expect(ids(false)).toEqual(['a', 'b', 'c', 'd', 'e']);
  expect(ids(true)).toEqual(['d', 'c', 'a', 'b', 'e']);
});

it('is written as a query takes it', () => {
  expect(orderText({ name: 'wins', isDescending: true })).toBe('wins desc');
  expect(orderText({ name: 'top speed', isDescending: false })).toBe('"top speed"');
  expect(orderText({ name: 'id', isDescending: true })).toBe('"id" desc');
});
