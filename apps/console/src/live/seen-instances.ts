import type { EntityInstance } from '@orrery/sdk';
import { instanceKey } from '../api/deployments.js';
import type { JournalEntry } from './entry-words.js';

/** Few enough instances to be read in a moment while one scrubs. */
export const PAGE = 50;

/** The instances in view: neighbouring pages of the list, from 1, of all schemas or of one. */
export interface InstanceWindow {
  readonly schema: string | undefined;
  readonly firstPage: number;
  readonly lastPage: number;
}

export interface SeenInstances extends InstanceWindow {
  /** The entry after which they are as shown. */
  readonly seq: number;
  readonly total: number;
  readonly rows: readonly EntityInstance[];
}

/** How many instances of the list are before the first row. */
export const offsetOf = ({ firstPage }: InstanceWindow): number => (firstPage - 1) * PAGE;

/**
 * The instances after more entries, which are in order of seq and may repeat what is known already; undefined where they
 * must be read anew: an entry is missing, or a deletion has moved the rows.
 */
export function afterEntries(
  seen: SeenInstances,
  entries: readonly JournalEntry[],
): SeenInstances | undefined {
  const fresh = entries.filter(({ seq }) => seq > seen.seq);
  const isWhole = fresh.every(({ seq }, index) => seq === seen.seq + 1 + index);
  const changes = fresh.flatMap((entry) =>
    entry.changes
      .filter(({ entitySchema }) => seen.schema === undefined || entitySchema === seen.schema)
      .map((change) => ({ ...change, at: entry.executedAt })),
  );
  if (!isWhole || changes.some(({ op }) => op === 'delete')) return undefined;
  const rows = new Map(seen.rows.map((row) => [instanceKey(row), row]));
  let { total } = seen;
  for (const { op, set, unset, at, ...names } of changes) {
    const before = rows.get(instanceKey(names));
    if (op === 'create') {
      total += 1;
      // The list is in order of creation: a new instance is its last.
      if (total > offsetOf(seen) && total <= seen.lastPage * PAGE)
        rows.set(instanceKey(names), { id: 0, ...names, state: set, createdAt: at, updatedAt: at });
    } else if (before !== undefined) {
      const kept = Object.entries(before.state).filter(([name]) => !unset.includes(name));
      const state = { ...Object.fromEntries(kept), ...set };
      rows.set(instanceKey(names), { ...before, ...names, state, updatedAt: at });
    }
  }
  return { ...seen, seq: fresh.at(-1)?.seq ?? seen.seq, total, rows: [...rows.values()] };
}
