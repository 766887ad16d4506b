import { expect, it } from 'vitest';
import { verdictOf } from './verdict.js';

const valid = { valid: true, entries: 1234, linked: 0, hash: 'x', instances: 20, firstDivergence: null };

it('says what was proven, and what was not', () => {
  const { isValid, text, trust } = verdictOf(valid);
  expect(isValid).toBe(true);
  expect(text).toBe(
    'Your browser has recomputed all 1,234 entries of this history: none was changed, left out or put in, from the first to ' +
      'the last. They lead to exactly the 20 entities that the server shows.',
  );
  expect(trust).toContain('comparing the hash');
  expect(verdictOf({ ...valid, linked: 3 }).trust).toContain('3 entries about settings');
  expect(verdictOf({ ...valid, instances: null }).text).toContain('not published');
});

it('says which entry does not hold', () => {
  const firstDivergence = {
    deployment: '0x',
    seq: 7,
    what: 'instance_differs',
    instance: 'horse:A',
  } as const;
  expect(verdictOf({ ...valid, valid: false, firstDivergence })).toMatchObject({
    isValid: false,
    text: 'This history does not hold: entry 7 has led to other entities than the server shows (horse:A).',
  });
});
