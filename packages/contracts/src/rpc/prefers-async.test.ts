import { expect, it } from 'vitest';
import { prefersAsync } from './rpc.js';

it.each([
  ['respond-async', true],
  ['Respond-Async', true],
  ['wait=10, respond-async', true],
  ['respond-async; x=1, return=minimal', true],
  [undefined, false],
  ['', false],
  ['return=minimal', false],
  ['not-respond-async', false],
])('Prefer: %s → %s', (header, expected) => {
  expect(prefersAsync(header)).toBe(expected);
});
