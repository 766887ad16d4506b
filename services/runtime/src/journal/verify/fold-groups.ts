import type { Divergence, InstanceChange, JsonObject } from '@orrery/contracts';
import type { Db } from '../../database/db.js';
import { changeKey, foldChange, hasCheckpoint, type InstanceName, sameJson } from '../change.js';
import { pastStates } from '../past-states.js';
import type { EntryGroup } from './entry-pages.js';
import { checkpointKey, checkpointsOf, type FoldedState, storedInstances } from './evidence-store.js';
import type { FoldMemory } from './fold-memory.js';

/** Past states that one query folds. */
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

/** What else is stored about an instance after a change. */
export interface Evidence {
  /** The checkpoint of that very entry. */
  checkpoint?: FoldedState | undefined;
  /** The instance's row, where this was its last change. */
  row?: FoldedState | undefined;
}
type EvidenceOf = (key: string, seq: number) => Evidence;

async function gatherEvidence(
  db: Db,
  deploymentId: number,
  group: EntryGroup,
  range: { from: number; to: number },
): Promise<EvidenceOf> {
  const checkpoints = await checkpointsOf(db, deploymentId, [...checkpointNamesOf(group).values()], range);
  const rows = await storedInstances(db, deploymentId, [...group.names.values()]);
  const lastSeqs = lastSeqsOf(group);
  return (key, seq) => {
    const row = rows.get(key);
    const isLast = lastSeqs.get(key) === seq && (row?.lastSeq ?? 0) <= seq;
    return { checkpoint: checkpoints.get(checkpointKey(key, seq)), row: isLast ? row : undefined };
  };
}

function lastSeqsOf(group: EntryGroup): Map<string, number> {
  const last = new Map<string, number>();
  for (const { entry } of group.entries)
    for (const change of entry.changes) last.set(changeKey(change), entry.seq);
  return last;
}

/** Instances that may have a checkpoint in the group. */
function checkpointNamesOf(group: EntryGroup): Map<string, InstanceName> {
  const changes = group.entries.flatMap(({ entry }) => entry.changes).filter(hasCheckpoint);
  return new Map(changes.map((change) => [changeKey(change), change]));
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

/** Folds one change onto the state before it and compares with what else is stored. */
export function checkFold(
  before: FoldedState | null,
  change: InstanceChange,
  { checkpoint, row }: Evidence,
): { after: FoldedState } | { what: Divergence['what'] } {
  const after = folded(before, change);
  if (after === undefined) return { what: 'impossible_change' };
  if (checkpoint !== undefined && !same(checkpoint, after)) return { what: 'kept_state_differs' };
  if (row !== undefined && !same(row, after)) return { what: 'instance_differs' };
  return { after };
}

function folded(before: FoldedState | null, change: InstanceChange): FoldedState | undefined {
  const state: JsonObject | null = before?.state ?? null;
  const revision = state === null ? 0 : (before?.revision ?? 0);
  if (change.revision !== revision + 1) return undefined;
  try {
    return { state: foldChange(state, change), revision: change.revision };
  } catch {
    return undefined;
  }
}

/** A deleted instance has no revision any more. */
const same = (a: FoldedState, b: FoldedState): boolean =>
  a.state === null || b.state === null
    ? a.state === b.state
    : a.revision === b.revision && sameJson(a.state, b.state);
