import { expect, it } from 'vitest';
import { COMPARISONS, comparable } from './comparisons.js';

it('compares with all names or none, and with so many in all', () => {
  const names = Array.from({ length: 450 }, (_, index) => `name${index}`);
  const left = { left: COMPARISONS };
  const compared = Array.from({ length: 4 }, () => comparable(names, left).length);
  expect(compared).toEqual([450, 450, 0, 0]);
  expect(comparable(['wins'], left)).toEqual(['wins']);
});
