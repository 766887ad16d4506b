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

export function verdictOf({ valid, entries, linked, instances, firstDivergence }: VerifiedHistory): Verdict {
  if (!valid && firstDivergence !== null)
    return { isValid: false, text: wrongOf(firstDivergence), trust: 'Do not rely on what this page shows.' };
  const all = entries === 1 ? 'the one entry' : `all ${count(entries, 'entry', 'entries')}`;
  const states =
    instances === null
      ? 'It begins with another world that is not published, so its entities could not be compared.'
      : `They lead to exactly the ${count(instances, 'entity', 'entities')} that the server shows.`;
  return {
    isValid: true,
    text:
      `Your browser has recomputed ${all} of this history: none was changed, left out or put in, from the first to the last. ` +
      states,
    trust: trustOf(linked),
  };
}

function trustOf(linked: number): string {
  const settings =
    linked === 0
      ? ''
      : `Of ${count(linked, 'entry', 'entries')} about settings, which only the owner reads, the place was checked and not the content. `;
  return `${settings}That the server shows everybody this same history is proven by comparing the hash below with others, or with one that you kept.`;
}

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
};

function wrongOf({ seq, what, instance }: Divergence): string {
  const of = instance === undefined ? '' : ` (${instance})`;
  return `This history does not hold: entry ${seq} ${WORDS[what]}${of}.`;
}
