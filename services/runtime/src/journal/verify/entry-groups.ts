import type { HashedEntry } from '@orrery/contracts';
import { changeKey, type InstanceName } from '../change.js';

export interface StoredEntry {
  entry: HashedEntry;
  hash: string;
}

/** Consecutive entries, and the instances that they change. */
export interface EntryGroup {
  entries: StoredEntry[];
  names: ReadonlyMap<string, InstanceName>;
}

/** Instances of a group, unless one entry alone changes more (500 at most). */
export const NAMES_IN_GROUP = 500;

/** Cuts entries into groups whose instances are looked up together. */
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
