import { expect, it } from 'vitest';
import { placeOf, thinned } from './failures.js';
import { lastThat } from './last-that.js';

it('a mark stands where the slider has its entry', () => {
  expect(placeOf(1, 1)).toBe(0);
  expect(placeOf(1, 11)).toBe(0);
  expect(placeOf(6, 11)).toBe(0.5);
  expect(placeOf(11, 11)).toBe(1);
});

it('of marks at one place one is shown', () => {
  expect(thinned([1, 2, 3, 1000], 1000, 10)).toEqual([3, 1000]);
  expect(thinned([2, 4], 5, 400)).toEqual([2, 4]);
});

it.each([0, 1, 37, 99, 100])(
  'the last of 100 entries by a time is %i, found in few steps',
  async (wanted) => {
    let steps = 0;
    const isSo = (number: number) => {
      steps += 1;
      return Promise.resolve(number <= wanted);
    };
    expect(await lastThat(100, isSo)).toBe(wanted);
    expect(steps).toBeLessThanOrEqual(8);
  },
);
