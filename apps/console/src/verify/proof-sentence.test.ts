import { expect, it } from 'vitest';
import { proofSentence } from './proof-sentence.js';

const HOLDS = { valid: true, entries: 1200, linked: 0, hash: 'ab', instances: 2, firstDivergence: null };

it('says in one sentence what was computed and what is believed', () => {
  expect(proofSentence({ ...HOLDS, decisions: { rerun: 1100, notRerun: {} } })).toBe(
    'Computed in this page: the chain of 1,200 entries, 2 instances and 1,100 decisions; ' +
      'on trust: that no other history was shown before.',
  );
  const seeds = { checked: 3, notChecked: { unrevealed: 1 } };
  expect(proofSentence({ ...HOLDS, decisions: { rerun: 4, notRerun: {}, seeds } })).toBe(
    'Computed in this page: the chain of 1,200 entries, 2 instances, 4 decisions and the seeds of 3 draws; ' +
      'on trust: the seeds of 1 draw whose secret is not revealed yet and that no other history was shown before.',
  );
  const decisions = { rerun: 0, notRerun: { no_definition: 1, model: 2, outside: 0 } };
  expect(proofSentence({ ...HOLDS, entries: 1, instances: null, decisions })).toBe(
    'Computed in this page: the chain of 1 entry; on trust: the outcome of 1 execution whose definitions you may not read, ' +
      'the outcome of 2 executions decided by a model whose answer cannot be applied again and that no other history was shown before.',
  );
});
