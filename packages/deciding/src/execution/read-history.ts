import {
  canonicalHash,
  canonicalJson,
  type HashedEntry,
  type JsonObject,
  type JsonValue,
  type ReadHistory,
  ServiceError,
  utf8Bytes,
} from '@orrery/contracts';
import { changeKey, type InstanceName, stateChangesOf } from '../entries/entry.js';

/** Entries of the journal, back from the one that is decided, among which an execution remembers; earlier ones are not searched. */
export const MEMORY_REACH = 10_000;

/** Instances whose history is read: that of more takes too long to find. */
const MAX_REMEMBERED = 50;

/** Bytes of the remembered entries of one execution, as canonical JSON. */
const MAX_BYTES = 32 * 1024;
/** Bytes of one member of an entry; a larger one is left out of it. */
const MAX_MEMBER_BYTES = 4 * 1024;

/** Which executions an execution remembers: all of the deployment, unless `events` or `instances` narrow it. */
export interface HistorySearch {
  readonly last: number;
  readonly events?: readonly string[];
  /** Those that changed one of these: `horse:HORSE_1`. */
  readonly instances?: readonly string[];
  readonly replays?: ReplayedEntry | undefined;
}

/**
 * In a what-if fork, the entry of the source that is executed again: what stands before it there is remembered, with what
 * the fork has executed in place of what it repeats.
 */
export interface ReplayedEntry {
  /** Of the source. */
  readonly deploymentId: number;
  readonly seq: number;
}

/** @throws `read_set_too_large` where the history of too many instances is asked for */
export function historySearch(
  { last, events, instances }: ReadHistory,
  reads: readonly InstanceName[],
  replays?: ReplayedEntry,
): HistorySearch {
  if (instances !== undefined && reads.length > MAX_REMEMBERED)
    throw new ServiceError(
      'read_set_too_large',
      `An execution reads the history of at most ${MAX_REMEMBERED} instances. Narrow what readEntities selects.`,
      { facts: { limit: MAX_REMEMBERED } },
    );
  return {
    last,
    ...(events !== undefined && { events }),
    ...(instances !== undefined && { instances: reads.map(changeKey) }),
    ...(replays !== undefined && { replays }),
  };
}

/** What is needed of an entry to remember it: all of that is covered by its hash. */
export type PastEntry = Pick<
  HashedEntry,
  | 'seq'
  | 'kind'
  | 'event'
  | 'status'
  | 'trigger'
  | 'caller'
  | 'executedAt'
  | 'input'
  | 'changes'
  | 'result'
  | 'error'
> & { readonly replayOf?: HashedEntry['replayOf'] | null };

export const isRemembered = (entry: PastEntry, { events, instances }: HistorySearch): boolean =>
  entry.kind === 'execution' &&
  (events?.includes(entry.event ?? '') ?? true) &&
  (instances === undefined || entry.changes.some((change) => instances.includes(changeKey(change))));

/** An execution as later ones remember it; one that is replayed with the position and the time that it had. */
export function memoryOf(entry: PastEntry): JsonObject {
  const { event, status, trigger, caller, error } = entry;
  const { seq, executedAt } = entry.replayOf ?? entry;
  const parts = { input: entry.input, changes: stateChangesOf(entry.changes), result: entry.result };
  const leftOut = Object.entries(parts).flatMap(([name, part]) => (isLarge(part) ? [name] : []));
  const shown = ([name, part]: [string, JsonValue]) => [name, leftOut.includes(name) ? null : part];
  return {
    seq,
    at: executedAt,
    event,
    status,
    trigger,
    caller,
    ...Object.fromEntries(Object.entries(parts as JsonObject).map(shown)),
    error: error?.code ?? null,
    ...(leftOut.length > 0 && { leftOut }),
  };
}

const isLarge = (part: JsonValue): boolean => bytesOf(part) > MAX_MEMBER_BYTES;
const bytesOf = (value: JsonValue): number => utf8Bytes(canonicalJson(value));

/** What an execution remembers, in the order of the journal. */
export interface Recalled {
  readonly entries: readonly JsonObject[];
  /** Of the asked-for executions, how many of the oldest are left out for their size. */
  readonly leftOut: number;
  /** SHA-256 of the RFC 8785 JSON of `entries`. */
  readonly hash: string;
}

/** @param found what the search finds, newest first, each as `memoryOf` makes it */
export function recall(found: readonly JsonObject[]): Recalled {
  let bytes = 0;
  let count = 0;
  for (const memory of found) {
    bytes += bytesOf(memory);
    if (bytes > MAX_BYTES) break;
    count += 1;
  }
  const entries = found.slice(0, count).reverse();
  return { entries, leftOut: found.length - count, hash: canonicalHash(entries as JsonValue[]) };
}
