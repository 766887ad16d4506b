import type { Divergence, VerifiedHistory } from '@orrery/sdk';

/** What a verification says, in one sentence. */
export function verdictOf({ valid, entries, firstDivergence }: VerifiedHistory): string {
  const count = entries.toLocaleString('en');
  if (valid) return entries === 1 ? 'The one entry holds.' : `All ${count} entries hold.`;
  if (firstDivergence?.what === 'instance_differs')
    return `The chain of ${count} entries holds, but an instance is not what they say.`;
  if (entries === 0) return 'The history does not hold from its first entry.';
  return `The history holds until entry ${count}, and not after it.`;
}

/** What is wrong, by the words of docs/history.md. */
export const FAULTS: Record<Divergence['what'], string> = {
  missing_entry: 'An entry is missing: the numbers do not follow one another.',
  broken_link:
    'An entry does not carry the hash of the one before it: something was removed, inserted or exchanged.',
  wrong_hash: 'An entry has another hash than its content gives: it was changed after it was written.',
  impossible_change: 'An entry changes an instance in a way that cannot follow the state before it.',
  snapshot_differs: 'The instances that this deployment began with are not those of its source.',
  instance_differs: 'An instance has a state that no entry gave it: it was changed beside the history.',
};
