import type { JournalFact } from '@orrery/contracts';

/** Reads entries after a `seq`, in order, at most a page of them. */
export type ReadEntries = (after: number) => Promise<readonly JournalFact[]>;

/** Where a journal lost entries, the `tail_lost` that says so is looked for among this many entries. */
const LOOK_BACK = 1000;

/**
 * Where a journal goes on that lost the entry `position`: the nearest `tail_lost` at or before `until` that was written
 * after the loss, else the last entry up to there. Undefined: it has none.
 */
export async function findReplacement(
  read: ReadEntries,
  position: number,
  until: number,
): Promise<JournalFact | undefined> {
  let found: JournalFact | undefined;
  let last: JournalFact | undefined;
  for (let after = Math.max(0, until - LOOK_BACK); after < until; ) {
    const entries = (await read(after)).filter(({ seq }) => seq <= until);
    if (entries.length === 0) break;
    found = entries.findLast((entry) => saysLost(entry, position)) ?? found;
    last = entries.at(-1);
    after = last?.seq ?? until;
  }
  return found ?? last;
}

const saysLost = ({ kind, input }: JournalFact, position: number): boolean =>
  kind === 'tail_lost' && typeof input['seq'] === 'number' && input['seq'] >= position;
