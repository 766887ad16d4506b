import { expect, it } from 'vitest';
import { draftOfFilter, filterOf, filterWords } from './bindings.js';

it.each([
  [null, null, 'everything'],
  [{ stateChanges: null, result: null }, null, 'everything'],
  [{ head: 'hourly' }, { head: 'hourly' }, 'the head, each hour'],
  [{ stateChanges: [] }, { stateChanges: [], result: null }, 'changes: none; result: all'],
  [
    { stateChanges: ['wins', 'horse.speed'], result: [] },
    { stateChanges: ['wins', 'horse.speed'], result: [] },
    'changes: wins, horse.speed; result: none',
  ],
] as const)('keeps the filter %j', (given, kept, words) => {
  const filter = given as Parameters<typeof filterWords>[0];
  expect(filterOf(draftOfFilter(filter))).toEqual(kept);
  expect(filterWords(filter)).toBe(words);
});

it('reads names that are parted by commas, spaces and lines', () => {
  const draft = { ...draftOfFilter(null), result: { what: 'some', names: ' a,b\n c ,' } } as const;
  expect(filterOf(draft)).toEqual({ stateChanges: null, result: ['a', 'b', 'c'] });
});
