import type { Divergence } from '@orrery/contracts';
import type { Db } from '../../database/db.js';
import { changeKey, type InstanceName } from '../change.js';
import { isKept } from '../kept-states.js';
import { pastStates } from '../past-states.js';
import { checkFold, type Evidence, type FoldedState } from './check-fold.js';
import type { EntryGroup } from './entry-groups.js';
import { keptKey, keptStates, storedInstances } from './evidence-store.js';
import type { FoldMemory } from './fold-memory.js';

/** Past states that are folded by one query. */
const FOLDED_AT_ONCE = 100;

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
    const states = await statesBefore(db, deploymentId, group, range.from - 1, memory);
    const evidenceOf = await gatherEvidence(db, deploymentId, group, range);
    return foldEntries(group, states, evidenceOf, memory);
  } catch (error) {
    if (error instanceof RangeError) return { seq: range.from, what: 'impossible_change' };
    throw error;
  }
}

type EvidenceOf = (key: string, seq: number) => Evidence;

async function gatherEvidence(
  db: Db,
  deploymentId: number,
  group: EntryGroup,
  range: { from: number; to: number },
): Promise<EvidenceOf> {
  const kept = await keptStates(db, deploymentId, [...keptNamesOf(group).values()], range);
  const rows = await storedInstances(db, deploymentId, [...group.names.values()]);
  const lastSeqs = lastSeqsOf(group);
  return (key, seq) => {
    const row = rows.get(key);
    const isLast = lastSeqs.get(key) === seq && (row?.lastSeq ?? 0) <= seq;
    return { kept: kept.get(keptKey(key, seq)), row: isLast ? row : undefined };
  };
}

function foldEntries(
  group: EntryGroup,
  states: Map<string, FoldedState>,
  evidenceOf: EvidenceOf,
  memory: FoldMemory,
): Divergence | undefined {
  for (const { entry } of group.entries) {
    for (const change of entry.changes) {
      const key = changeKey(change);
      const checked = checkFold(states.get(key) ?? null, change, evidenceOf(key, entry.seq));
      if ('what' in checked) return { seq: entry.seq, what: checked.what, instance: key };
      states.set(key, checked.after);
      memory.put(key, checked.after, change.set);
    }
  }
  return undefined;
}

/** The states from before the group. Throws RangeError where they cannot be folded. */
async function statesBefore(
  db: Db,
  deploymentId: number,
  group: EntryGroup,
  seq: number,
  memory: FoldMemory,
): Promise<Map<string, FoldedState>> {
  const states = new Map<string, FoldedState>();
  const missing: [string, InstanceName][] = [];
  for (const named of group.names) {
    const remembered = memory.get(named[0]);
    if (remembered === undefined) missing.push(named);
    else states.set(named[0], remembered);
  }
  for (let start = 0; start < missing.length; start += FOLDED_AT_ONCE) {
    const part = missing.slice(start, start + FOLDED_AT_ONCE);
    const past = await pastStates(db, deploymentId, part.map(nameOf), seq);
    for (const [index, [key]] of part.entries()) states.set(key, past[index] ?? { state: null, revision: 0 });
  }
  return states;
}

const nameOf = ([, name]: [string, InstanceName]): InstanceName => name;

function lastSeqsOf(group: EntryGroup): Map<string, number> {
  const last = new Map<string, number>();
  for (const { entry } of group.entries)
    for (const change of entry.changes) last.set(changeKey(change), entry.seq);
  return last;
}

/** Instances of which the group may pass a kept state. */
function keptNamesOf(group: EntryGroup): Map<string, InstanceName> {
  const changes = group.entries.flatMap(({ entry }) => entry.changes).filter(isKept);
  return new Map(changes.map((change) => [changeKey(change), change]));
}
