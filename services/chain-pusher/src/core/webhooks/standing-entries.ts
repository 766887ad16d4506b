/** What a receiver has taken at a place of the journal: an entry, or, where null, that those from there on are lost. */
export interface Taken {
  readonly historyId: string | null;
  readonly seq: number;
}

/**
 * Of what a receiver has taken, newest first, the entries that nothing later has replaced, in the order of the journal. Those
 * that a journal still has come before those that it has lost.
 */
export function standingEntries(taken: readonly Taken[]): { historyId: string; seq: number }[] {
  const standing = [];
  let below = Number.POSITIVE_INFINITY;
  for (const { historyId, seq } of taken) {
    if (seq >= below) continue;
    below = seq;
    if (historyId !== null) standing.push({ historyId, seq });
  }
  return standing.reverse();
}
