import { expect, it } from 'vitest';
import { Unaffordable } from './unaffordable.js';

function noted(...submissions: number[]): Unaffordable {
  const unaffordable = new Unaffordable();
  unaffordable.isLeftAt(5);
  for (const submission of submissions) unaffordable.note(submission);
  return unaffordable;
}

it('are left while the balance is the same, and forgotten once it is another one', () => {
  const unaffordable = noted(1);
  expect(unaffordable.isLeftAt(5)).toBe(true);
  expect(unaffordable.isLeftAt(6)).toBe(false);
  expect(unaffordable.isLeftAt(5)).toBe(false);
});

it('are left until the node has taken each of them', () => {
  const unaffordable = noted(1, 2);
  expect([unaffordable.taken(3), unaffordable.taken(1), unaffordable.taken(1)]).toEqual([false, true, false]);
  expect(unaffordable.isLeftAt(5)).toBe(true);
  unaffordable.taken(2);
  expect(unaffordable.isLeftAt(5)).toBe(false);
});

it('are forgotten once they are over', () => {
  const unaffordable = noted(1, 2);
  unaffordable.keep(new Set([2, 3]));
  expect(unaffordable.isLeftAt(5)).toBe(true);
  unaffordable.keep(new Set());
  expect(unaffordable.isLeftAt(5)).toBe(false);
});
