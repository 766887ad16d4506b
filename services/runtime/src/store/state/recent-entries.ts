import type { JsonObject } from '@orrery/contracts';
import {
  type HistorySearch,
  isRemembered,
  MEMORY_REACH,
  memoryOf,
  type PastEntry,
} from '../../core/deciding/read-history.js';

/** An entry with the form in which executions remember it, which is made once. */
interface Remembered {
  readonly entry: PastEntry;
  readonly memory: JsonObject;
}

/** What a search found, newest first, up to an entry of the journal. */
interface Found {
  readonly upTo: number;
  readonly entries: readonly Remembered[];
}

/** Entries since the memory began; older ones have been taken into what was found. */
const MAX_TAIL = 256;
/** Searches whose results are remembered, those used last. */
const MAX_SEARCHES = 20;
/** Bytes of one of these, roughly: 50 entries of a few KiB. */
const SEARCH_BYTES = 64 * 1024;

/**
 * What executions of one deployment remember of its journal, exactly as it stands before each of them: what was read from
 * the database, and the entries since, committed or not. It costs nothing until an execution of the deployment reads history.
 */
export function createRecentEntries() {
  /** `undefined` until history is read; then all entries after `from`, in order. */
  let tail: Remembered[] | undefined;
  let from = 0;
  const found = new Map<string, Found>();
  const keyOf = (search: HistorySearch): string => JSON.stringify(search);

  const put = (key: string, value: Found) => {
    found.delete(key);
    found.set(key, value);
    const [oldest] = found.keys();
    if (found.size > MAX_SEARCHES && oldest !== undefined) found.delete(oldest);
  };
  /** Forgets the first half of a long tail, and what was found before it: that is read again. */
  const shorten = (entries: Remembered[]) => {
    const dropped = entries.splice(0, entries.length / 2);
    from = dropped.at(-1)?.entry.seq ?? from;
    for (const [key, { upTo }] of found) if (upTo < from) found.delete(key);
  };
  return {
    /** From now on entries are kept; `seq`: the last one so far. */
    start: (seq: number): void => {
      if (tail !== undefined) return;
      tail = [];
      from = seq;
    },
    /** The journal got an entry. */
    add: (entry: PastEntry): void => {
      if (tail === undefined) return;
      tail.push({ entry, memory: entry.kind === 'execution' ? memoryOf(entry) : {} });
      if (tail.length > MAX_TAIL) shorten(tail);
    },
    /** What a read of the database found, up to its last committed entry. One that lacks entries before the tail is not used. */
    learn: (search: HistorySearch, upTo: number, entries: readonly PastEntry[]): void => {
      if (tail === undefined || upTo < from) return;
      put(keyOf(search), { upTo, entries: entries.map((entry) => ({ entry, memory: memoryOf(entry) })) });
    },
    /** What the search finds now, newest first; `undefined` unless memory is known to hold it. */
    find: (search: HistorySearch): JsonObject[] | undefined => {
      const key = keyOf(search);
      const before = found.get(key);
      if (tail === undefined || before === undefined) return undefined;
      if (search.replays !== undefined)
        return hasExecutionAfter(tail, before.upTo) ? undefined : before.entries.map(({ memory }) => memory);
      const last = tail.at(-1)?.entry.seq ?? from;
      const upTo = Math.max(before.upTo, last);
      const since = tail.filter(({ entry }) => entry.seq > before.upTo && isRemembered(entry, search));
      const entries = [...since.reverse(), ...before.entries]
        .filter(({ entry }) => entry.seq > upTo - MEMORY_REACH)
        .slice(0, search.last);
      put(key, { upTo, entries });
      return entries.map(({ memory }) => memory);
    },
    /** Roughly how many bytes it holds. */
    bytes: (): number => (tail === undefined ? 0 : (found.size + 1) * SEARCH_BYTES),
  };
}

/** Which of what was recorded a replay stands in place of is read from the database: what is not committed waits. */
const hasExecutionAfter = (tail: readonly Remembered[], seq: number): boolean =>
  tail.some(({ entry }) => entry.seq > seq && entry.kind === 'execution');
