import { expect, it } from 'vitest';
import { FAULTS } from './faults.js';
import { showVerified } from './show-verified.js';

const HOLDS = { valid: true, entries: 7, linked: 0, hash: 'ab', instances: 2, firstDivergence: null };

it('says what was proven, and what was not', () => {
  expect(showVerified(HOLDS)).toBe(
    'The history holds: 7 entries.\nThe last entry that holds is 7; its hash is ab.\n' +
      '2 instances were compared with what the entries say.\nNo checkpoint was compared: --checkpoint does that.\n' +
      'Decisions were not checked: --decisions does that.',
  );
  expect(showVerified({ ...HOLDS, linked: 2 })).toMatch(
    /ab\.\nThe hashes of 2 entries about settings .+\.\n2 inst/,
  );
  const decisions = { rerun: 5, notRerun: { model: 1, outside: 0 } };
  expect(showVerified({ ...HOLDS, instances: null, decisions })).toMatch(
    /no instance was compared\.\n.*\n5 executions were decided again here, with the same outcome\.\n1 were not: they were decided by a model whose answer you may not read, or that gave none\.$/,
  );
  const seeds = { checked: 3, notChecked: { unrevealed: 2 } };
  expect(showVerified({ ...HOLDS, decisions: { rerun: 5, notRerun: {}, seeds } })).toMatch(
    /\n3 seeds of random numbers were checked\.\n2 were not: they are made of a secret that is not revealed yet\.$/,
  );
});

it('names the first entry that does not hold', () => {
  const firstDivergence = { deployment: '0x', seq: 8, what: 'decision_differs' as const };
  expect(showVerified({ ...HOLDS, valid: false, firstDivergence })).toMatch(
    /^The history does NOT hold\. Entry 8: its definition, decided again, gives something else\.\nIt was decided by other rules/,
  );
});

it('says of a checkpoint what was compared, and what to do where it contradicts', () => {
  const signed = { origin: 'o/0x/1', size: 7, rootHash: 'cd', lost: null, note: '' };
  expect(showVerified({ ...HOLDS, signed })).toContain(
    '\nThe operator signs the first 7 entries: o/0x/1, root cd.\n',
  );
  expect(showVerified({ ...HOLDS, signed }, 'kept')).toContain(
    '\nThe entries of the checkpoint that was kept are still those.\nThe operator signs the first 7 ',
  );
  const firstDivergence = { deployment: '0x', seq: 5, what: 'checkpoint_differs' as const };
  const shown = showVerified({ ...HOLDS, valid: false, firstDivergence, signed }, 'kept');
  expect(shown).toMatch(
    /^The history does NOT hold\. Entry 5: .+\nThe history was rewritten after .+ two pasts\.\n/,
  );
  expect(shown).not.toContain('still those');
});

it('has a sentence for each contradiction that says what happened and what to do', () => {
  for (const { what, advice } of Object.values(FAULTS)) {
    expect(what).toMatch(/^[a-z].*[^.]$/);
    expect(advice).toMatch(/^[A-Z].*\. [A-Z`].*\.$/);
  }
});
