import type { Divergence, VerifiedHistory } from '@orrery/sdk';
import { expect, it } from 'vitest';
import { verdictOf } from './verify-page.js';

const verified = (entries: number, what?: Divergence['what']): VerifiedHistory => ({
  valid: what === undefined,
  entries,
  linked: 0,
  hash: '',
  instances: 1,
  firstDivergence: what === undefined ? null : { deployment: '0x', seq: entries + 1, what },
});

it('says until where the history holds', () => {
  expect(verdictOf(verified(1234))).toBe('All 1,234 entries hold.');
  expect(verdictOf(verified(1))).toBe('The one entry holds.');
  expect(verdictOf(verified(7, 'wrong_hash'))).toBe('The history holds until entry 7, and not after it.');
  expect(verdictOf(verified(0, 'broken_link'))).toBe('The history does not hold from its first entry.');
  expect(verdictOf(verified(9, 'instance_differs'))).toBe(
    'The chain of 9 entries holds, but an instance is not what they say.',
  );
});
