import { expect, it } from 'vitest';
import { problemsOf, WrongParts } from './messages.js';
import { leftOf, memberByLabel } from './refusal.js';

const refusal = new WrongParts('/name: is taken', [
  { pointer: '/name', message: 'is taken' },
  { pointer: '/constraints/min', message: 'is greater than max' },
]);

it('a refusal stays whole until a part of it is corrected, and goes with the last one', () => {
  expect(leftOf(refusal, () => false)).toBe(refusal);
  const left = leftOf(refusal, (pointer) => pointer === '/name');
  expect(left?.message).toBe('/constraints/min: is greater than max');
  expect(problemsOf(left)).toEqual([{ pointer: '/constraints/min', message: 'is greater than max' }]);
  expect(leftOf(refusal, () => true)).toBeNull();
});

it('what is about no part stays', () => {
  const away = new Error('The server is away.');
  expect(leftOf(away, () => true)).toBe(away);
  expect(leftOf(null, () => true)).toBeNull();
});

it('a pointer leads to the member of the nearest label', () => {
  const memberAt = memberByLabel<{ min: string; bindings: string }>({
    '/constraints/min': 'Least',
    '/bindings': 'Events',
  });
  expect(memberAt('/constraints/min')).toBe('min');
  expect(memberAt('/bindings/0/event')).toBe('bindings');
  expect(memberAt('/other')).toBeUndefined();
});
