import { expect, it } from 'vitest';
import { formatRows } from './format-rows.js';

it('lines up columns under their names and marks what is absent', () => {
  const rows = [
    { horse: 'HORSE_1', wins: 1 },
    { horse: 'H2', wins: null },
  ];
  expect(formatRows(rows, ['horse', 'wins'])).toBe('horse    wins\nHORSE_1  1\nH2       –');
});

it('shows as many rows as a list has', () => {
  const rows = Array.from({ length: 200_000 }, (_, id) => ({ id }));
  expect(formatRows(rows, ['id']).split('\n')).toHaveLength(200_001);
});
