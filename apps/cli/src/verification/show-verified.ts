import type { CheckedDecisions, Divergence, NotCheckedSeed, NotRerun, VerifiedHistory } from '@orrery/sdk';

/** What each contradiction means: the words are those of docs/history.md. */
const FAULTS: Readonly<Record<Divergence['what'], string>> = {
  missing_entry: 'an entry is missing',
  broken_link: 'it does not carry the hash of the entry before it',
  wrong_hash: 'it has another hash than its content gives',
  impossible_change: 'it changes an instance in a way that cannot follow the state before it',
  snapshot_differs: 'the deployment began with other instances than its source had',
  instance_differs: 'an instance has a state that no entry gave it',
  decision_differs: 'its definition, decided again, gives something else',
  definition_differs: 'the definition that is kept for it is not the one that its hash names',
  checkpoint_differs: 'the entries are not those of the checkpoint that was kept',
  head_differs: 'the entries are not those that the operator signs',
  tail_lost: 'the database lost entries that the checkpoint covers',
  draws_differ: 'its random numbers are not made of the secret or the round that it names',
  exchange_differs: 'the exchange with its model is not the one that its hash names',
};

const REASONS: Readonly<Record<NotRerun, string>> = {
  version_1: 'were written by an earlier release',
  other_evaluator: 'were decided by another revision of the rules',
  no_definition: 'have a definition that you may not read, or that is not kept',
  model: 'were decided by a model whose answer you may not read, or that gave none',
  recorded: 'drew random numbers that cannot be drawn again',
  unknown_members: 'have a definition with members that this command does not know',
  outside: 'failed for a reason that is not in the entry',
  no_states: 'follow a source that cannot be read',
};

const SEEDS: Readonly<Record<NotCheckedSeed, string>> = {
  unrevealed: 'are made of a secret that is not revealed yet',
  other_beacon: 'are made of a round of a beacon that is not known here',
  replayed: 'are those of the entries that a what-if fork repeats',
};

/** What was proven, in lines for people. */
export function showVerified(verified: VerifiedHistory): string {
  const { entries, hash, instances, firstDivergence, decisions } = verified;
  return [
    verdictOf(firstDivergence, entries),
    `The last entry that holds is ${entries}; its hash is ${hash}.`,
    instances === null
      ? 'The source of this clone cannot be read, so no instance was compared.'
      : `${instances} instances were compared with what the entries say.`,
    ...(decisions === undefined
      ? ['Decisions were not checked: --decisions does that.']
      : decisionLines(decisions)),
  ].join('\n');
}

function verdictOf(divergence: Divergence | null, entries: number): string {
  if (divergence === null) return `The history holds: ${entries} entries.`;
  const { seq, what, instance } = divergence;
  return `The history does NOT hold. Entry ${seq}: ${FAULTS[what]}${instance === undefined ? '' : ` (${instance})`}.`;
}

function decisionLines({ rerun, notRerun, seeds }: CheckedDecisions): string[] {
  const left = Object.entries(notRerun).filter(([, count]) => count > 0);
  const open = Object.entries(seeds?.notChecked ?? {});
  return [
    `${rerun} executions were decided again here, with the same outcome.`,
    ...left.map(([reason, count]) => `${count} were not: they ${REASONS[reason as NotRerun]}.`),
    ...(seeds === undefined ? [] : [`${seeds.checked} seeds of random numbers were checked.`]),
    ...open.map(([reason, count]) => `${count} were not: they ${SEEDS[reason as NotCheckedSeed]}.`),
  ];
}
