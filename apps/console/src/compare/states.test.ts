import type { EntityInstance } from '@orrery/sdk';
import { expect, it } from 'vitest';
import { differing, isSame } from './states.js';

const horse = (instanceId: string, state: object) =>
  ({ entitySchema: 'horse', instanceId, state }) as EntityInstance;

it('instances differ by what they hold, and where one side lacks them', () => {
  const left = [horse('A', { wins: 1, list: [1] }), horse('B', { wins: 1 }), horse('C', { wins: 1 })];
  const right = [horse('D', {}), horse('B', { wins: 2 }), horse('A', { list: [1], wins: 1 })];
  const whole = (instances: EntityInstance[]) => ({ instances, isCut: false });
  expect(differing(whole(left), whole(right))).toEqual([
    { instance: 'horse:B', left: { wins: 1 }, right: { wins: 2 } },
    { instance: 'horse:C', left: { wins: 1 }, right: undefined },
    { instance: 'horse:D', left: undefined, right: {} },
  ]);
});

it('claims nothing of what a side that is cut has not shown', () => {
  // One is deleted at the right, so the cut there lies one further.
  const left = { instances: [horse('A', { wins: 1 }), horse('B', { wins: 1 })], isCut: true };
  const right = { instances: [horse('B', { wins: 2 }), horse('C', { wins: 1 })], isCut: true };
  const changed = { instance: 'horse:B', left: { wins: 1 }, right: { wins: 2 } };
  expect(differing(left, right)).toEqual([changed]);
  const whole = { ...right, isCut: false };
  const gone = { instance: 'horse:A', left: { wins: 1 }, right: undefined };
  expect(differing(left, whole)).toEqual([gone, changed]);
});

it.each([
  [null, {}, false],
  [[1], { 0: 1 }, false],
  [{ a: undefined }, {}, false],
  [{ a: [{ b: 1 }] }, { a: [{ b: 1 }] }, true],
  ['1', 1, false],
])('%j and %j are the same: %j', (a, b, wanted) => {
  expect(isSame(a, b)).toBe(wanted);
});
