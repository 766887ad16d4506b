import { expect, it } from 'vitest';
import { verdictOf } from './verdict.js';

const valid = { valid: true, entries: 1234, linked: 0, hash: 'x', instances: 20, firstDivergence: null };

it('says in a sentence each what was proven, and what was not', () => {
  const { isValid, text, trust } = verdictOf(valid);
  expect(isValid).toBe(true);
  expect(text).toBe(
    'Your browser has recomputed all 1,234 entries of this history, of which none was changed, left out or put in, and the ' +
      '20 entities that they lead to, which are those that the server shows.',
  );
  expect(trust).toBe(
    'On trust: that every outcome follows from its rules, which the owner has not opened, and that everybody is shown this ' +
      'same history (compare the hash below with that of others, or with one that you kept).',
  );
  const unread = verdictOf({ ...valid, linked: 3 });
  expect(unread.text).toContain('of this history, each of which follows the one before, and');
  expect(unread.trust).toMatch(
    /3 entries about settings, whose hashes only the owner can check.+signed checkpoint/,
  );
  expect(verdictOf({ ...valid, instances: null }).trust).toContain('not published');
});

it('says what was decided and drawn again, and what could not be', () => {
  const seeds = { checked: 2, notChecked: { unrevealed: 1 } };
  const { text, trust } = verdictOf({ ...valid, decisions: { rerun: 9, notRerun: { model: 4 }, seeds } });
  expect(text).toMatch(/, the outcome of 9 plays by its rules, and 2 draws of random numbers\.$/);
  expect(trust).toMatch(
    /^On trust: the outcome of 4 plays that could not be decided again, 1 draw of random numbers whose secret is not told yet, and that/,
  );
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
    text: 'This history does not hold. Entry 7: after it the server shows another entity than the history gives (horse:A).',
  });
});
