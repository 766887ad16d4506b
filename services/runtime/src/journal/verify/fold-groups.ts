import type { Divergence } from '@orrery/contracts';
import { LRUCache } from 'lru-cache';
import type { Db } from '../../context.js';
import { changeKey, type InstanceName } from '../../execution/instance-view.js';
import { pastStates } from '../past-states.js';
import { checkFold, type Evidence, type FoldedState } from './check-fold.js';
import { type EntryGroup, NAMES_IN_GROUP } from './entry-groups.js';
import { keptKey, keptStates, storedInstances } from './evidence-store.js';

/** States remembered between groups; what was forgotten is read anew from the nearest kept state. */
const REMEMBERED = 2 * NAMES_IN_GROUP;
/** Past states that are folded by one query. */
const FOLDED_AT_ONCE = 100;

/** The states as the fold has them, as far as they are remembered. `state` null: absent. */
export type FoldMemory = LRUCache<string, FoldedState>;
export const createFoldMemory = (): FoldMemory => new LRUCache({ max: REMEMBERED });

/** Folds a group's changes; answers the first divergence. */
export async function foldGroup(
  db: Db,
  deploymentId: number,
  group: EntryGroup,
  memory: FoldMemory,
): Promise<Divergence | undefined> {
  if (group.names.size === 0) return undefined;
  const range = { from: group.entries[0]?.entry.seq ?? 0, to: group.entries.at(-1)?.entry.seq ?? 0 };
  try {
    await remember(db, deploymentId, group, range.from - 1, memory);
  } catch (error) {
    if (error instanceof RangeError) return { seq: range.from, what: 'impossible_change' };
    throw error;
  }
  const names = [...group.names.values()];
  const kept = await keptStates(db, deploymentId, names, range);
  const rows = await storedInstances(db, deploymentId, names);
  const lastSeqs = lastSeqsOf(group);
  const evidenceOf = (key: string, seq: number): Evidence => {
    const row = rows.get(key);
    const isLast = lastSeqs.get(key) === seq && (row?.lastSeq ?? 0) <= seq;
    return { kept: kept.get(keptKey(key, seq)), row: isLast ? row : undefined };
  };
  return foldEntries(group, memory, evidenceOf);
}

function foldEntries(
  group: EntryGroup,
  memory: FoldMemory,
  evidenceOf: (key: string, seq: number) => Evidence,
): Divergence | undefined {
  for (const { entry } of group.entries) {
    for (const change of entry.changes) {
      const key = changeKey(change);
      const checked = checkFold(memory.get(key) ?? null, change, evidenceOf(key, entry.seq));
      if ('what' in checked) return { seq: entry.seq, what: checked.what, instance: key };
      memory.set(key, checked.after);
    }
  }
  return undefined;
}

/** Brings the states from before the group into memory. Throws RangeError where they cannot be folded. */
async function remember(db: Db, deploymentId: number, group: EntryGroup, seq: number, memory: FoldMemory) {
  const missing = [...group.names].filter(([key]) => memory.get(key) === undefined);
  for (let start = 0; start < missing.length; start += FOLDED_AT_ONCE) {
    const part = missing.slice(start, start + FOLDED_AT_ONCE);
    const states = await pastStates(db, deploymentId, part.map(nameOf), seq);
    for (const [index, [key]] of part.entries())
      memory.set(key, states[index] ?? { state: null, revision: 0 });
  }
}

const nameOf = ([, name]: [string, InstanceName]): InstanceName => name;

function lastSeqsOf(group: EntryGroup): Map<string, number> {
  const last = new Map<string, number>();
  for (const { entry } of group.entries)
    for (const change of entry.changes) last.set(changeKey(change), entry.seq);
  return last;
}
