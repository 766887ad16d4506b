import { expect, it } from 'vitest';
import { indexedValue } from './indexed-value.js';

it('stands for a value as orders compare it', () => {
  expect([-1.5, -0, 'a', false, true, null].map(indexedValue)).toEqual([
    { kind: 0, number: -1.5, text: '' },
    { kind: 0, number: 0, text: '' },
    { kind: 1, number: 0, text: 'a' },
    { kind: 2, number: 0, text: '' },
    { kind: 2, number: 1, text: '' },
    { kind: 3, number: 0, text: '' },
  ]);
});
