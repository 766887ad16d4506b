import { expect, it } from 'vitest';
import { seedWords } from './random-numbers.js';

it.each([
  [{ outcome: 'holds', committed: 3, revealed: 9 }, /^It holds: entry 3 had committed .+ entry 9 reveals/],
  [{ outcome: 'holds' }, /^It holds: the signature of the round/],
  [{ outcome: 'differs' }, /Somebody could choose the numbers/],
  [{ outcome: 'unrevealed', committed: 3 }, /^Not checked yet: entry 3/],
  [{ outcome: 'other_beacon' }, /^Not checked: /],
  [{ outcome: 'replayed' }, /^Not checked: /],
  [{ outcome: 'too_far' }, /^Not checked: .+ Verify the history/],
] as const)('says of %j what was found and what was not checked', (verdict, words) => {
  expect(seedWords(verdict)).toMatch(words);
});
