import type { Divergence, VerifiedHistory } from '@orrery/sdk';

/** What a verification has found, in sentences. */
export interface Verdict {
  readonly isValid: boolean;
  /** What was proven, or what is wrong. */
  readonly text: string;
  /** What was not proven. */
  readonly trust: string;
}

const count = (number: number, one: string, many: string): string =>
  `${number.toLocaleString('en')} ${number === 1 ? one : many}`;

export function verdictOf(found: VerifiedHistory): Verdict {
  const { valid, entries, linked, instances, firstDivergence, decisions } = found;
  if (!valid && firstDivergence !== null)
    return { isValid: false, text: wrongOf(firstDivergence), trust: 'Do not rely on what this page shows.' };
  const proven = [
    `${entries === 1 ? 'the one entry' : `all ${count(entries, 'entry', 'entries')}`} of this history, ${linked === 0 ? 'of which none was changed, left out or put in' : 'each of which follows the one before'}`,
    ...(instances === null
      ? []
      : [
          `the ${count(instances, 'entity', 'entities')} that they lead to, which are those that the server shows`,
        ]),
    ...(decisions === undefined
      ? []
      : [`the outcome of ${count(decisions.rerun, 'play', 'plays')} by its rules`]),
    ...(decisions?.seeds?.checked
      ? [`${count(decisions.seeds.checked, 'draw', 'draws')} of random numbers`]
      : []),
  ];
  return { isValid: true, text: `Your browser has recomputed ${listed(proven)}.`, trust: trustOf(found) };
}

/** One sentence; the last of it is never proven by one browser alone. */
function trustOf({ linked, instances, decisions }: VerifiedHistory): string {
  const undecided = sumOf(decisions?.notRerun);
  const undrawn = sumOf(decisions?.seeds?.notChecked);
  const parts = [
    ...(instances === null
      ? ['the entities, since another world that is not published was there first']
      : []),
    ...(linked === 0
      ? []
      : [
          `${count(linked, 'entry', 'entries')} about settings, whose hashes only the owner can check, and so that none before them was changed`,
        ]),
    ...(decisions === undefined
      ? ['that every outcome follows from its rules, which the owner has not opened']
      : []),
    ...(undecided === 0
      ? []
      : [`the outcome of ${count(undecided, 'play', 'plays')} that could not be decided again`]),
    ...(undrawn === 0
      ? []
      : [`${count(undrawn, 'draw', 'draws')} of random numbers whose secret is not told yet`]),
    linked === 0
      ? 'that everybody is shown this same history (compare the hash below with that of others, or with one that you kept)'
      : 'that everybody is shown this same history (a signed checkpoint that somebody kept tells)',
  ];
  return `On trust: ${listed(parts)}.`;
}

const sumOf = (counts: Readonly<Record<string, number>> = {}): number =>
  Object.values(counts).reduce((sum, one) => sum + one, 0);

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`;

const WORDS: Record<Divergence['what'], string> = {
  missing_entry: 'it is missing',
  broken_link: 'it does not carry the hash of the entry before it',
  wrong_hash: 'its hash is not that of its content',
  impossible_change: 'its change cannot follow the state before it',
  snapshot_differs: 'the world did not begin with the entities of the world that it was copied from',
  instance_differs: 'after it the server shows another entity than the history gives',
  checkpoint_differs: 'the history up to here is not that of the signed checkpoint that was kept',
  head_differs: 'the history up to here is not the one that the operator signs now',
  tail_lost: 'the database has lost entries that the kept checkpoint covers',
  decision_differs: 'its rules, applied again, give another outcome',
  draws_differ: 'its random numbers are not made of the secret or the beacon that it names',
  definition_differs: 'the server has other rules for it than those that it names',
  exchange_differs: 'the server has another answer of its model than the one that it names',
};

function wrongOf({ seq, what, instance }: Divergence): string {
  const of = instance === undefined ? '' : ` (${instance})`;
  return `This history does not hold. Entry ${seq}: ${WORDS[what]}${of}.`;
}
