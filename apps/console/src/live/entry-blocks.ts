/** Entries that one request reads: as many as are never too large together (docs/history.md). */
export const BLOCK = 40;

/** The block that an entry is in; block 0 holds the entries 1 to `BLOCK`. */
export const blockOf = (seq: number): number => Math.floor((seq - 1) / BLOCK);

/** The query that reads a block, newest entry first. */
export const blockQuery = (block: number) =>
  ({ include: 'all', after: (block + 1) * BLOCK + 1, limit: BLOCK }) as const;

/** Whether a block can still grow when the journal ends at `head`: what was read of it is not the last word. */
export const isOpen = (block: number, head: number): boolean => head < (block + 1) * BLOCK;

/** The timeline lists the newest entry first: row 0 is entry `head`. */
export const seqOfRow = (row: number, head: number): number => head - row;
export const rowOfSeq = (seq: number, head: number): number => head - seq;

/** The blocks that the rows `first` to `last` of the timeline lie in. */
export function blocksOfRows(first: number, last: number, head: number): number[] {
  if (head < 1 || last < first) return [];
  const newest = blockOf(Math.min(seqOfRow(first, head), head));
  const oldest = blockOf(Math.max(seqOfRow(last, head), 1));
  return Array.from({ length: newest - oldest + 1 }, (_, index) => newest - index);
}
