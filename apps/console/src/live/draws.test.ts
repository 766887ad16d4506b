import { expect, it } from 'vitest';
import { firstDraws } from './draws.js';

const SEED = Array.from({ length: 32 }, (_, byte) => byte.toString(16).padStart(2, '0')).join('');

it('draws what docs/templates.md says', async () => {
  const draws = await firstDraws(SEED, 10);
  expect(draws.map(({ die }) => die)).toEqual([6, 4, 5, 6, 6, 3, 6, 4, 6, 3]);
  expect(draws.slice(0, 2).map(({ fraction }) => fraction)).toEqual([0.6212898328090829, 0.766401311793263]);
});
