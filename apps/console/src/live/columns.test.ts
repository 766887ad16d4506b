import type { EntityInstance } from '@orrery/sdk';
import { expect, it } from 'vitest';
import { shownValue } from './entry-words.js';
import { columnsOf, MAX_COLUMNS, summaryOf } from './instances.js';

const horse = (state: EntityInstance['state']) => ({ state }) as EntityInstance;

it('are the attributes of the schema, then others that instances have', () => {
  const attributes = [
    { name: 'wins', type: 'integer' as const },
    { name: 'name', type: 'string' as const },
  ];
  const shown = [horse({ zeal: 1, wins: 2 }), horse({ age: 'old', zeal: null })];
  expect(columnsOf(attributes, shown)).toEqual([
    { name: 'wins', isNumeric: true },
    { name: 'name', isNumeric: false },
    { name: 'age', isNumeric: false },
    { name: 'zeal', isNumeric: true },
  ]);
});

it('are as many as a table can show', () => {
  const state = Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`a${index}`, index]));
  expect(columnsOf([], [horse(state)])).toHaveLength(MAX_COLUMNS);
});

it('a value is one line', () => {
  expect(shownValue('x')).toBe('x');
  expect(shownValue({ a: [1] })).toBe('{"a":[1]}');
  expect(shownValue(undefined)).toBe('');
  expect(shownValue(null)).toBe('null');
  expect(summaryOf(horse({ wins: 1, name: 'Bolt' }))).toBe('wins 1 · name Bolt');
});
