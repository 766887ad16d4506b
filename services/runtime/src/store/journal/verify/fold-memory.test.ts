import { expect, test } from 'vitest';
import { createFoldMemory } from './fold-groups.js';

const stateOf = (length: number) => ({ state: { text: 'x'.repeat(length) }, revision: 1 });

test('what no longer fits is forgotten, the longest unused first', () => {
  const memory = createFoldMemory(20_000);
  for (const key of ['a', 'b', 'c']) memory.set(key, stateOf(3000));
  memory.get('a');
  memory.set('d', stateOf(3000));
  expect(['a', 'b', 'c', 'd'].map((key) => memory.get(key) !== undefined)).toEqual([true, false, true, true]);
});

test('a state that grows by its changes takes more room', () => {
  const memory = createFoldMemory(18_300);
  memory.set('a', stateOf(10));
  for (let n = 0; n < 10; n++) memory.set('b', stateOf(n * 1000));
  expect(memory.get('a')).toBeUndefined();
});

test('an absent instance is remembered as such', () => {
  const memory = createFoldMemory();
  memory.set('a', { state: null, revision: 0 });
  expect(memory.get('a')).toEqual({ state: null, revision: 0 });
});
