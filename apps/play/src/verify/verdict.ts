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
  const { valid, entries, instances, firstDivergence, decisions } = found;
  if (!valid && firstDivergence !== null)
    return { isValid: false, text: wrongOf(firstDivergence), trust: 'Do not rely on what this page shows.' };
  const proven = [
    `${entries === 1 ? 'the one entry' : `all ${count(entries, 'entry', 'entries')}`} of this history, of which none was changed, left out or put in`,
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
      : [`the content of ${count(linked, 'entry', 'entries')} about settings, which only the owner reads`]),
    ...(decisions === undefined
      ? ['that every outcome follows from its rules, which the owner has not opened']
      : []),
    ...(undecided === 0
      ? []
      : [`the outcome of ${count(undecided, 'play', 'plays')} that could not be decided again`]),
    ...(undrawn === 0
      ? []
      : [`${count(undrawn, 'draw', 'draws')} of random numbers whose secret is not told yet`]),
    'that everybody is shown this same history, which comparing the hash below with others, or with one that you kept, proves',
  ];
  return `On trust: ${listed(parts)}.`;
}

const sumOf = (counts: Readonly<Record<string, number>> = {}): number =>
  Object.values(counts).reduce((sum, one) => sum + one, 0);

const listed = (parts: readonly string[]): string =>
  parts.length < 2 ? parts.join('') : `${parts.slice(0, -1).join(', ')}, and ${parts.at(-1)}`;

const WORDS: Record<Divergence['what'], string> = {
  missing_entry: 'is missing',
  broken_link: 'does not follow the one before it',
  wrong_hash: 'is not what its hash says',
  impossible_change: 'changes something that was not there',
  snapshot_differs: 'begins with other entities than those of the world it was made from',
  instance_differs: 'has led to other entities than the server shows',
  checkpoint_differs: 'is the last of a signed state that was kept, and the history up to it is another one',
  head_differs:
    'is the last of the state that the operator signs now, and the history up to it is another one',
  tail_lost: 'was the last of a signed state that was kept, and the database has lost its end',
  decision_differs: 'has an outcome that its definition does not give',
  draws_differ: 'has random numbers that are not made of what it names',
  definition_differs: 'names another definition than the server has',
  exchange_differs: 'names another answer of its model than the server has',
};

function wrongOf({ seq, what, instance }: Divergence): string {
  const of = instance === undefined ? '' : ` (${instance})`;
  return `This history does not hold: entry ${seq} ${WORDS[what]}${of}.`;
}
