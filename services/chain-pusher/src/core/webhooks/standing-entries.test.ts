import { expect, it } from 'vitest';
import { standingEntries } from './standing-entries.js';

const taken = (...places: (string | number)[]) =>
  places
    .map((place) =>
      typeof place === 'number'
        ? { historyId: `first ${place}`, seq: place }
        : { historyId: place, seq: Number(place.replace(/\D/g, '')) },
    )
    .reverse();
const standing = (...places: (string | number)[]) =>
  standingEntries(taken(...places)).map(({ historyId }) => historyId);

it('are all where the journal never lost any', () => {
  expect(standing(2, 3, 7)).toEqual(['first 2', 'first 3', 'first 7']);
  expect(standing()).toEqual([]);
});

it('are not those whose numbers came again', () => {
  expect(standing(2, 4, 5, 6, 'second 5', 'second 8')).toEqual([
    'first 2',
    'first 4',
    'second 5',
    'second 8',
  ]);
  expect(standing(2, 4, 'second 2', 'third 1')).toEqual(['third 1']);
});

it('are not those that the receiver was told are lost', () => {
  const loss = { historyId: null, seq: 4 };
  expect(standingEntries([loss, ...taken(2, 3, 4, 5)])).toEqual([
    { historyId: 'first 2', seq: 2 },
    { historyId: 'first 3', seq: 3 },
  ]);
});
