import { expect, it } from 'vitest';
import { showVerified } from './show-verified.js';

const HOLDS = { valid: true, entries: 7, linked: 0, hash: 'ab', instances: 2, firstDivergence: null };

it('says what was proven, and what was not', () => {
  expect(showVerified(HOLDS)).toBe(
    'The history holds: 7 entries.\nThe last entry that holds is 7; its hash is ab.\n' +
      '2 instances were compared with what the entries say.\nDecisions were not checked: --decisions does that.',
  );
  const decisions = { rerun: 5, notRerun: { model: 1, outside: 0 } };
  expect(showVerified({ ...HOLDS, instances: null, decisions })).toMatch(
    /no instance was compared\.\n5 executions were decided again here, with the same outcome\.\n1 were not: they were decided by a model whose answer you may not read, or that gave none\.$/,
  );
  const seeds = { checked: 3, notChecked: { unrevealed: 2 } };
  expect(showVerified({ ...HOLDS, decisions: { rerun: 5, notRerun: {}, seeds } })).toMatch(
    /\n3 seeds of random numbers were checked\.\n2 were not: they are made of a secret that is not revealed yet\.$/,
  );
});

it('names the first entry that does not hold', () => {
  const firstDivergence = { deployment: '0x', seq: 8, what: 'decision_differs' as const };
  expect(showVerified({ ...HOLDS, valid: false, firstDivergence })).toMatch(
    /^The history does NOT hold\. Entry 8: its definition, decided again, gives something else\.\n/,
  );
});
