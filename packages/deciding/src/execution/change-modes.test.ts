import type { ChangeMode, JsonObject } from '@orrery/contracts';
import { expect, test } from 'vitest';
import { mergeByMode } from './apply-proposal.js';

const before: JsonObject = { wins: 1, tags: ['a'], stats: { x: 1 }, name: 'Bolt', empty: null };
const isRequired = (attribute: string) => attribute === 'name';
const merged = (mode: ChangeMode, values: JsonObject) => mergeByMode(mode, before, values, isRequired);

test('partial is a shallow merge, attribute by attribute', () => {
  expect(merged('partial', { stats: { y: 2 }, tags: ['b'] })).toEqual({
    ...before,
    stats: { y: 2 },
    tags: ['b'],
  });
});

test('null removes an attribute that is not required, and stays to be refused in one that is', () => {
  expect(merged('partial', { wins: null })).not.toHaveProperty('wins');
  expect(merged('partial', { name: null })).toMatchObject({ name: null });
  expect(merged('append', { tags: null })).not.toHaveProperty('tags');
});

test('full: the new state is the change', () => {
  expect(merged('full', { wins: 2, other: null })).toEqual({ wins: 2, other: null });
});

test.each([
  ['lists are concatenated', { tags: ['b', 'c'] }, { tags: ['a', 'b', 'c'] }],
  ['a single value onto a list is pushed', { tags: { deep: ['b'] } }, { tags: ['a', { deep: ['b'] }] }],
  ['objects are merged', { stats: { y: 2 } }, { stats: { x: 1, y: 2 } }],
  ['numbers are set, not added', { wins: 5 }, { wins: 5 }],
  ['texts are set, not joined', { name: 'Dash' }, { name: 'Dash' }],
  ['what is absent is set', { fresh: [1], empty: [2] }, { fresh: [1], empty: [2] }],
])('append: %s', (_what, values, outcome) => {
  expect(merged('append', values as JsonObject)).toEqual({ ...before, ...outcome });
});

test('no mode changes the state that it is given', () => {
  const frozen = Object.freeze({ tags: Object.freeze(['a']) as unknown as string[] });
  for (const mode of ['partial', 'full', 'append'] as const) {
    mergeByMode(mode, frozen, { tags: ['b'], x: 1 }, isRequired);
  }
  expect(frozen).toEqual({ tags: ['a'] });
});
