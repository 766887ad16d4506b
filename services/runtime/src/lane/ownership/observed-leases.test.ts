import { FakeClock } from '@orrery/testing';
import { expect, it } from 'vitest';
import { ObservedLeases } from './observed-leases.js';

const LENGTH = 6000;

function observer() {
  const clock = new FakeClock();
  const leases = new ObservedLeases(clock, LENGTH);
  const left = (mark: string, leftMs: number | null) =>
    leases.observe(new Map([['lease', { mark, leftMs }]])).get('lease');
  return { clock, left, leases };
}

it('a lease that is not renewed lasts as long as it had left', async () => {
  const { clock, left } = observer();
  expect(left('a', 4000)).toBe(4000);
  await clock.advance(3999);
  expect(left('a', 1)).toBe(1);
  await clock.advance(1);
  expect(left('a', 0)).toBe(0);
});

it('it is over in time when the clock of the database is set back, before or after it was seen', async () => {
  const { clock, left } = observer();
  expect(left('a', 4000)).toBe(4000);
  await clock.advance(4000);
  expect(left('a', 60_000)).toBe(0);
  expect(left('b', 65_000)).toBe(LENGTH);
  await clock.advance(LENGTH);
  expect(left('b', 59_000)).toBe(0);
});

it('it is not over early when the clock of the database is set forward', async () => {
  const { clock, left } = observer();
  left('a', LENGTH);
  await clock.advance(2000);
  expect(left('a', -60_000)).toBe(4000);
  expect(left('b', LENGTH)).toBe(LENGTH);
});

it('one that nobody holds is over, and a name that is gone begins anew', async () => {
  const { clock, left, leases } = observer();
  expect(left('', null)).toBe(0);
  left('a', LENGTH);
  await clock.advance(LENGTH);
  leases.observe(new Map());
  expect(left('a', LENGTH)).toBe(LENGTH);
});
