import { describe, expect, it } from 'vitest';
import { readTyped, samplesOf, whyWrong } from './check-value.js';

describe('why a value is wrong', () => {
  it.each([
    [1.5, { type: 'integer', constraints: null }, 'is no whole number'],
    [2 ** 53, { type: 'integer', constraints: null }, 'is no whole number'],
    [-1, { type: 'integer', constraints: { min: 0 } }, 'is below 0'],
    [101, { type: 'float', constraints: { max: 100 } }, 'is above 100'],
    ['1', { type: 'float', constraints: null }, 'is no number'],
    ['red', { type: 'string', constraints: { enum: ['green', 'blue'] } }, 'is none of green, blue'],
    ['a1', { type: 'string', constraints: { pattern: '^[a-z]+$' } }, 'does not match ^[a-z]+$'],
    ['true', { type: 'boolean', constraints: null }, 'is no boolean'],
    [null, { type: 'json', constraints: { required: true } }, 'is required'],
    [undefined, { type: 'string', constraints: { required: true } }, 'is required'],
  ] as const)('%j with %j', (value, rules, words) => {
    expect(whyWrong(value, rules as never)).toBe(words);
  });

  it.each([
    [0, { type: 'integer', constraints: { min: 0, max: 0 } }],
    ['blue', { type: 'string', constraints: { enum: ['blue'], pattern: 'l' } }],
    ['x', { type: 'string', constraints: { pattern: '(' } }],
    [{ a: [1] }, { type: 'json', constraints: null }],
    [null, { type: 'integer', constraints: { min: 3 } }],
  ] as const)('%j with %j: it is not', (value, rules) => {
    expect(whyWrong(value, rules as never)).toBeUndefined();
  });
});

it('shows the edges of the rules', () => {
  expect(samplesOf({ type: 'integer', constraints: { min: 0, max: 100, required: true } })).toEqual([
    { shown: 'absent', wrong: 'is required' },
    { shown: '-1', wrong: 'is below 0' },
    { shown: '0', wrong: undefined },
    { shown: '100', wrong: undefined },
    { shown: '101', wrong: 'is above 100' },
    { shown: '1.5', wrong: 'is no whole number' },
    { shown: '"1"', wrong: 'is no whole number' },
  ]);
});

it('reads what was typed', () => {
  expect(readTyped('', 'json')).toBeUndefined();
  expect(readTyped('1e3', 'float')).toBe(1000);
  expect(readTyped('1', 'string')).toBe('1');
  expect(readTyped('{"a":1}', 'json')).toEqual({ a: 1 });
  expect(readTyped('x', 'integer')).toBeNaN();
});
