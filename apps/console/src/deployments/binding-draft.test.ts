import { describe, expect, it } from 'vitest';
import { type Bound, changeOf, draftOfFilter, filterOf, filterWords, isLossOf } from './binding-draft.js';

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
  [
    { stateChanges: ['top speed'], result: ['a,b'] },
    { stateChanges: ['top speed'], result: ['a,b'] },
    'changes: ["top speed"]; result: ["a,b"]',
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

describe('a change of a binding', () => {
  const opened: Bound = { eventVersion: 1, targetChains: ['a', 'b'], onchain: null };

  it('is what was changed alone', () => {
    expect(
      changeOf(opened, { ...opened, targetChains: ['b', 'a'], onchain: { stateChanges: null } }),
    ).toEqual({});
    expect(changeOf(opened, { ...opened, targetChains: ['b'] })).toEqual({ targetChains: ['b'] });
    expect(changeOf({ ...opened, onchain: { head: 'hourly' } }, opened)).toEqual({ onchain: null });
  });

  it.each<[string, Partial<Bound>, Partial<Bound>, boolean]>([
    ['what nobody else has changed', { targetChains: [] }, { eventVersion: 2 }, false],
    ['what somebody else has changed otherwise', { eventVersion: 3 }, { eventVersion: 2 }, true],
    ['what somebody else has changed in the same way', { eventVersion: 2 }, { eventVersion: 2 }, false],
    ['one of both', { eventVersion: 2, targetChains: ['c'] }, { targetChains: ['d'] }, true],
  ])('may replace %s', (_, change, theirs, isLoss) => {
    expect(isLossOf({ ...opened, ...theirs }, opened, change)).toBe(isLoss);
  });
});
