import { expect, it } from 'vitest';
import { suggestionsFor } from './suggestions.js';

const rows = (...ids: string[]) => ({
  rows: new Map(ids.map((id) => [id, { id, state: {}, changed: {} }])),
  total: ids.length,
  isMinimum: false,
});
const loaded = new Map([
  ['Horse', rows('H1', 'H2')],
  ['rider', rows('R1')],
]);

it('are the instances of the schema that a field is called like, or of all', () => {
  expect(suggestionsFor('horseId', loaded)).toEqual(['H1', 'H2']);
  expect(suggestionsFor('winner', loaded)).toEqual(['H1', 'H2', 'R1']);
});

it('are few', () => {
  const many = new Map([['horse', rows(...Array.from({ length: 1000 }, (_, at) => `H${at}`))]]);
  expect(suggestionsFor('horse', many)).toHaveLength(50);
});
