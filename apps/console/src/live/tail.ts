import type { DeploymentRef } from '../api/records.js';
import type { JournalEntry } from './entry-words.js';

/** The end of a journal, as the stream tells it. */
export interface Tail {
  /** The seq of the last entry; 0 for an empty journal. */
  readonly head: number;
  /** The last entries that came while the page was open, oldest first: what was read before lacks only these. */
  readonly recent: readonly JournalEntry[];
  /** Counts how often old ones were dropped from `recent`: what was read before that is read again. */
  readonly generation: number;
}

/** What each part of the page is about: a deployment after one of its entries. */
export interface PartProps {
  deployment: DeploymentRef;
  tail: Tail;
  seq: number;
}

const MOST = 400;
const KEPT = 100;

/** The tail after more entries have come; they may repeat what it has. */
export function advanced(tail: Tail, entries: readonly JournalEntry[]): Tail {
  const fresh = entries.filter(({ seq }) => seq > tail.head);
  const last = fresh.at(-1);
  if (last === undefined) return tail;
  const recent = [...tail.recent, ...fresh];
  const isFull = recent.length > MOST;
  return {
    head: last.seq,
    recent: isFull ? recent.slice(-KEPT) : recent,
    generation: tail.generation + (isFull ? 1 : 0),
  };
}

/** Entries that were read, newest first, with the recent ones that they lack. */
export function withRecent(
  read: readonly JournalEntry[],
  recent: readonly JournalEntry[],
  isWanted: (entry: JournalEntry) => boolean,
): JournalEntry[] {
  const known = new Set(read.map(({ seq }) => seq));
  const added = recent.filter((entry) => !known.has(entry.seq) && isWanted(entry));
  return added.length === 0 ? [...read] : [...added, ...read].sort((a, b) => b.seq - a.seq);
}
