import { createSeedCheck, sha256Hex } from '@orrery/deciding';
import type { HistoryEntry, Journal } from '../journal/journal.js';
import type { DrawVerdict } from '../verification/decision-check.js';
import { hashedText } from '../verification/hash-chain.js';

/** Entries before and after a draw among which its commitment, and then its reveal, are looked for. */
const MOST_SOUGHT = 10_000;

/**
 * Holds the random numbers of one entry to what it says that they are made of: the secret that the journal had committed to
 * and not told before it, and reveals after it, or the round of a beacon, whose signature is verified. The entries have to have
 * their hashes; that these form a chain is the matter of `verifyHistory`.
 */
export async function verifyDraw(
  journal: Journal,
  entry: HistoryEntry,
  signal: AbortSignal | undefined,
): Promise<DrawVerdict> {
  const { source, commitment = '' } = entry.randomness ?? {};
  if (source === undefined) throw new TypeError(`Entry ${entry.seq} drew no random numbers.`);
  if (source !== 'deployment') return { outcome: await outcomeOf([entry]) };
  const { committed, told, isTooFar } = await before(journal, entry.seq, commitment, signal);
  // A secret that was told before is refuted without its commitment.
  const first = committed ?? (isTooFar ? { kind: 'randomness_committed', input: { commitment } } : undefined);
  const known = [...(first === undefined ? [] : [first]), ...told, entry];
  const outcome = await outcomeOf(known);
  if (outcome === 'differs') return { outcome, committed: committed?.seq, revealed: told[0]?.seq };
  if (isTooFar) return { outcome: 'too_far' };
  const reveal = await firstReveal(journal.inOrder({ after: entry.seq, signal }), commitment);
  if (reveal === 'too_far') return { outcome: 'too_far', committed: committed?.seq };
  return {
    outcome: reveal === undefined ? outcome : await outcomeOf([...known, reveal]),
    committed: committed?.seq,
    revealed: reveal?.seq,
  };
}

interface Before {
  /** Undefined: there is none, or it is too far. */
  readonly committed?: HistoryEntry;
  /** Entries that claim to reveal the secret, oldest first. */
  readonly told: readonly HistoryEntry[];
  readonly isTooFar: boolean;
}

/** What the journal says of a commitment before an entry. */
async function before(
  journal: Journal,
  seq: number,
  commitment: string,
  signal: AbortSignal | undefined,
): Promise<Before> {
  const told: HistoryEntry[] = [];
  let sought = 0;
  for await (const entry of journal.newestFirst({ include: 'all', after: seq, signal })) {
    if (entry.kind === 'randomness_committed' && entry.input['commitment'] === commitment)
      return { committed: entry, told, isTooFar: false };
    if (reveals(entry, commitment)) told.unshift(entry);
    sought += 1;
    if (sought === MOST_SOUGHT) return { told, isTooFar: true };
  }
  return { told, isTooFar: false };
}

async function firstReveal(
  entries: AsyncGenerator<HistoryEntry>,
  commitment: string,
): Promise<HistoryEntry | 'too_far' | undefined> {
  let sought = 0;
  for await (const entry of entries) {
    if (reveals(entry, commitment)) return entry;
    sought += 1;
    if (sought === MOST_SOUGHT) return 'too_far';
  }
  return undefined;
}

const reveals = ({ kind, input }: HistoryEntry, commitment: string): boolean =>
  kind === 'randomness_revealed' && JSON.stringify(input).includes(`"${commitment}"`);

/** What a check of these entries alone finds. One without a hash is taken as it is. */
async function outcomeOf(
  entries: readonly (HistoryEntry | Pick<HistoryEntry, 'kind' | 'input'>)[],
): Promise<DrawVerdict['outcome']> {
  if (entries.some((entry) => 'hash' in entry && !hasItsHash(entry))) return 'differs';
  const { counts, check } = createSeedCheck();
  // The SDK's types of records are made of the API's document, those of the rules are the service's own.
  for (const entry of entries) if ((await check(entry as never)) !== undefined) return 'differs';
  const [notChecked] = Object.keys(counts.notChecked) as (keyof typeof counts.notChecked)[];
  return notChecked ?? 'holds';
}

function hasItsHash(entry: HistoryEntry): boolean {
  const text = hashedText(entry);
  return text !== undefined && sha256Hex(text) === entry.hash;
}
