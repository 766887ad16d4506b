import { createSeedCheck, sha256Hex } from '@orrery/deciding';
import type { HistoryEntry, Journal } from '../journal/journal.js';
import type { DrawVerdict } from '../verification/decision-check.js';
import { hashedText } from '../verification/hash-chain.js';

/** Entries before and after a draw among which its commitment, and then its reveal, are looked for. */
const MOST_SOUGHT = 10_000;

/**
 * Holds the random numbers of one entry to what it says that they are made of: the secret that the journal had committed to
 * before it and reveals after it, or the round of a beacon, whose signature is verified. The entries have to have their hashes;
 * that these form a chain is the matter of `verifyHistory`.
 */
export async function verifyDraw(
  journal: Journal,
  entry: HistoryEntry,
  signal: AbortSignal | undefined,
): Promise<DrawVerdict> {
  const { source, commitment } = entry.randomness ?? {};
  if (source === undefined) throw new TypeError(`Entry ${entry.seq} drew no random numbers.`);
  if (source !== 'deployment') return verdictOf([entry]);
  const before = journal.newestFirst({ include: 'all', after: entry.seq, signal });
  const committed = await firstOf(before, ({ kind, input }) => {
    return kind === 'randomness_committed' && input['commitment'] === commitment;
  });
  if (committed === 'too_far') return { outcome: 'too_far' };
  const after = journal.inOrder({ after: entry.seq, signal });
  const revealed = await firstOf(after, ({ kind, input }) => {
    return kind === 'randomness_revealed' && JSON.stringify(input).includes(`"${commitment}"`);
  });
  const reveal = typeof revealed === 'object' ? revealed : undefined;
  const entries = [committed, entry, reveal].filter((one) => one !== undefined);
  return { ...verdictOf(entries), committed: committed?.seq, revealed: reveal?.seq };
}

async function firstOf(
  entries: AsyncGenerator<HistoryEntry>,
  is: (entry: HistoryEntry) => boolean,
): Promise<HistoryEntry | 'too_far' | undefined> {
  let sought = 0;
  for await (const entry of entries) {
    if (is(entry)) return entry;
    sought += 1;
    if (sought === MOST_SOUGHT) return 'too_far';
  }
  return undefined;
}

function verdictOf(entries: readonly HistoryEntry[]): DrawVerdict {
  if (entries.some((entry) => sha256Hex(hashedText(entry)) !== entry.hash)) return { outcome: 'differs' };
  const { counts, check } = createSeedCheck();
  // The SDK's types of records are made of the API's document, those of the rules are the service's own.
  const differs = entries.map((entry) => check(entry as never)).some((seq) => seq !== undefined);
  if (differs) return { outcome: 'differs' };
  const [notChecked] = Object.keys(counts.notChecked) as (keyof typeof counts.notChecked)[];
  return { outcome: notChecked ?? 'holds' };
}
