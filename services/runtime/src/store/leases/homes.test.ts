import { expect, it } from 'vitest';
import { disagreements } from './homes.js';

const home = (partition: number, generation: number) => ({ partition, generation });

it.each([
  ['the same generation', 4, 4, []],
  ['a generation that the directory has not learned yet', 5, 4, []],
  ['a restored database', 3, 4, [{ partition: 7, here: 3, there: 4 }]],
  ['a restored directory', 6, 4, [{ partition: 7, here: 6, there: 4 }]],
])('the directory and the database are compared: %s', (_what, here, there, found) => {
  expect(disagreements([home(7, there)], [home(7, here)])).toEqual(found);
});

it('what the directory names and the database has not is a disagreement, and not the other way round', () => {
  expect(disagreements([home(1, 2)], [home(3, 9)])).toEqual([{ partition: 1, here: 0, there: 2 }]);
});
