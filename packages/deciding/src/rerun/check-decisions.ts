import type { HashedEntry } from '@orrery/contracts';
import { createSeedCheck } from '../randomness/check-seeds.js';
import { type FirstInstance, foldInstances } from './folded-instances.js';
import { createJudge, type JudgedBy, type Verdict } from './judge.js';

interface CheckedDeployment extends Omit<JudgedBy, 'decideOn' | 'remembersSource'> {
  /** What a clone begins with, in the order of creation. */
  readonly first: Iterable<FirstInstance>;
}

/** The entry that does not hold: the one that is checked, or an earlier one whose secret it reveals. */
type Found = { readonly seq: number; readonly what: NonNullable<Verdict> } | undefined;

/**
 * Decides the executions of a whole journal again, in its order, with nothing but the entries and the definitions (docs/history.md
 * "Decisions"). Each entry is checked and then followed. The time of a check does not depend on the length of the journal;
 * all instances are in memory.
 */
export function createDecisionCheck({ first, ...by }: CheckedDeployment) {
  const instances = foldInstances(first);
  const { counts, judge } = createJudge({
    ...by,
    decideOn: (_, decide) => decide(instances),
    remembersSource: false,
  });
  const seeds = createSeedCheck();

  return {
    counts,
    /** Whether the entry is what its definition gives. It waits where a definition is read for the first time, for what a model answered, and for the check of a round. */
    check: (entry: HashedEntry): Found | Promise<Found> => {
      const found = (what: Verdict): Found => what && { seq: entry.seq, what };
      const decided = (wrong: number | undefined): Found | Promise<Found> => {
        if (entry.randomness !== undefined) counts.seeds = seeds.counts;
        if (wrong !== undefined) return { seq: wrong, what: 'draws_differ' };
        const verdict = judge(entry);
        return verdict instanceof Promise ? verdict.then(found) : found(verdict);
      };
      const wrong = seeds.check(entry);
      return wrong instanceof Promise ? wrong.then(decided) : decided(wrong);
    },
    /** Takes the changes of an entry that holds. */
    follow: instances.follow,
  };
}
