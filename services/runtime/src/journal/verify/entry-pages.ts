import type { HashedEntry } from '@orrery/contracts';
import type { Db } from '../../database/db.js';
import { changeKey, type InstanceName } from '../change.js';
import { HASHED_COLUMNS, hashedEntryOf } from '../journal-store.js';

export interface StoredEntry {
  entry: HashedEntry;
  hash: string;
}

/** Entries of the first page: 4 MiB of the largest. */
export const SMALLEST_PAGE = 16;
const LARGEST_PAGE = 500;
/** Bytes of a page's entries, so that checking one page does not block the process. */
const PAGE_BYTES = 1024 * 1024;
/** Entries that are measured: a page's entries are much alike. */
const MEASURED = 16;

/** Up to `limit` entries from `from` on, in order. */
export async function readPage(
  db: Db,
  { id, address }: { id: number; address: string },
  from: number,
  limit: number,
): Promise<StoredEntry[]> {
  const rows = await db
    .selectFrom('journal')
    .select(HASHED_COLUMNS)
    .where('deployment_id', '=', id)
    .where('seq', '>=', from)
    .orderBy('seq')
    .limit(limit)
    .execute();
  return rows.map((row) => ({ entry: hashedEntryOf(row, address), hash: row.hash }));
}

/** How many entries to read next, judged by the last ones. */
export function nextPageSize(page: readonly StoredEntry[]): number {
  const measured = page.slice(-MEASURED);
  const bytes = measured.reduce(
    (sum, { entry }) => sum + JSON.stringify([entry.input, entry.changes]).length,
    0,
  );
  const average = Math.max(1, bytes / Math.max(1, measured.length));
  return Math.min(LARGEST_PAGE, Math.max(SMALLEST_PAGE, Math.floor(PAGE_BYTES / average)));
}

/** Consecutive entries, and the instances that they change. */
export interface EntryGroup {
  entries: StoredEntry[];
  names: ReadonlyMap<string, InstanceName>;
}

/** Instances of a group, unless one entry alone changes more (500 at most). */
export const NAMES_IN_GROUP = 500;

/** Splits a page into groups whose instances are looked up together. */
export function groupEntries(entries: readonly StoredEntry[]): EntryGroup[] {
  const groups: { entries: StoredEntry[]; names: Map<string, InstanceName> }[] = [];
  for (const stored of entries) {
    const names = stored.entry.changes.map((change) => [changeKey(change), change] as const);
    const last = groups.at(-1);
    if (last === undefined || last.names.size + names.length > NAMES_IN_GROUP) {
      groups.push({ entries: [stored], names: new Map(names) });
      continue;
    }
    last.entries.push(stored);
    for (const [key, name] of names) last.names.set(key, name);
  }
  return groups;
}
