import type { Divergence, InstanceChange, JsonObject } from '@orrery/contracts';
import { LRUCache } from 'lru-cache';
import {
  changeKey,
  foldChange,
  hasCheckpoint,
  type InstanceName,
  sameJson,
} from '../../../core/entries/entry.js';
import type { Db } from '../../tables/schema.js';
import { pastStates } from '../past-states.js';
import {
  changeAt,
  checkpointsOf,
  type EntryGroup,
  type FoldedState,
  indexedChanges,
  readChangeAt,
  storedInstances,
} from './stored-evidence.js';

/** Characters of the states that are remembered between groups; others are read again from their last checkpoint. */
const REMEMBERED = 48 * 1024 * 1024;
/** What a state takes beside its JSON. */
const OVERHEAD = 200;
/** A size that has grown by guesses beyond this is measured again. */
const GUESSED_TO = 80 * 1024;

/** The states as the fold has them, as far as they are remembered. `state` null: absent. */
export interface FoldMemory {
  get(key: string): FoldedState | undefined;
  /** `set`: what the last change set, where the state was remembered before. */
  put(key: string, state: FoldedState, set?: JsonObject): void;
}

interface Remembered {
  state: FoldedState;
  size: number;
}

export function createFoldMemory(maxSize = REMEMBERED): FoldMemory {
  const states = new LRUCache<string, Remembered>({ maxSize, sizeCalculation: ({ size }) => size });
  return {
    get: (key) => states.get(key)?.state,
    put: (key, state, set) => {
      const before = states.peek(key)?.size;
      const guess = before === undefined || set === undefined ? GUESSED_TO : before + lengthOf(set);
      states.set(key, { state, size: guess < GUESSED_TO ? guess : lengthOf(state.state) + OVERHEAD });
    },
  };
}

const lengthOf = (state: JsonObject | null): number => JSON.stringify(state).length;

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
    const evidence = await gatherEvidence(db, deploymentId, group, range);
    return firstOf(foldEntries(group, states, evidence, memory), evidence.unexplained);
  } catch (error) {
    if (error instanceof RangeError) return { seq: range.from, what: 'impossible_change' };
    throw error;
  }
}

interface Evidence {
  /** Whether the index of changes has the entry. */
  isIndexed: boolean;
  /** The checkpoint of that very entry. */
  checkpoint?: FoldedState | undefined;
  /** The instance's row, where this was its last change. */
  row?: FoldedState | undefined;
}

interface GroupEvidence {
  of(key: string, seq: number): Evidence;
  /** Index rows and checkpoints of entries that do not change the instance. */
  unexplained: readonly Divergence[];
}

async function gatherEvidence(
  db: Db,
  deploymentId: number,
  group: EntryGroup,
  range: { from: number; to: number },
): Promise<GroupEvidence> {
  const names = [...group.names.values()];
  const checkpoints = await checkpointsOf(db, deploymentId, names, range);
  const indexed = await indexedChanges(db, deploymentId, names, range);
  const rows = await storedInstances(db, deploymentId, names);
  const lastSeqs = lastSeqsOf(group);
  return {
    of: (key, seq) => {
      const at = changeAt(key, seq);
      const row = rows.get(key);
      const isLast = lastSeqs.get(key) === seq && (row?.lastSeq ?? 0) <= seq;
      return { isIndexed: indexed.has(at), checkpoint: checkpoints.get(at), row: isLast ? row : undefined };
    },
    unexplained: [
      ...unexplained(group, indexed, 'change_index_differs'),
      ...unexplained(group, checkpoints.keys(), 'kept_state_differs'),
    ],
  };
}

/** Those of the stored keys (`changeAt`) that no change of the group explains. */
function unexplained(group: EntryGroup, stored: Iterable<string>, what: Divergence['what']): Divergence[] {
  const changed = new Set<string>();
  for (const { entry } of group.entries)
    for (const change of entry.changes) changed.add(changeAt(changeKey(change), entry.seq));
  return [...stored].filter((at) => !changed.has(at)).map((at) => ({ ...readChangeAt(at), what }));
}

const firstOf = (found: Divergence | undefined, others: readonly Divergence[]): Divergence | undefined =>
  others.reduce((first, other) => (first === undefined || other.seq < first.seq ? other : first), found);

function lastSeqsOf(group: EntryGroup): Map<string, number> {
  const last = new Map<string, number>();
  for (const { entry } of group.entries)
    for (const change of entry.changes) last.set(changeKey(change), entry.seq);
  return last;
}

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
  evidence: GroupEvidence,
  memory: FoldMemory,
): Divergence | undefined {
  for (const { entry } of group.entries) {
    for (const change of entry.changes) {
      const key = changeKey(change);
      const checked = checkFold(states.get(key) ?? null, change, evidence.of(key, entry.seq));
      if ('what' in checked) return { seq: entry.seq, what: checked.what, instance: key };
      states.set(key, checked.after);
      memory.put(key, checked.after, change.set);
    }
  }
  return undefined;
}

function checkFold(
  before: FoldedState | null,
  change: InstanceChange,
  { isIndexed, checkpoint, row }: Evidence,
): { after: FoldedState } | { what: Divergence['what'] } {
  const after = folded(before, change);
  if (after === undefined) return { what: 'impossible_change' };
  if (!isIndexed) return { what: 'change_index_differs' };
  if (!isCheckpoint(checkpoint, change, after)) return { what: 'kept_state_differs' };
  if (row !== undefined && !same(row, after)) return { what: 'instance_differs' };
  return { after };
}

/** Whether a checkpoint is stored exactly where one belongs, with the state of the fold. */
const isCheckpoint = (
  stored: FoldedState | undefined,
  change: InstanceChange,
  after: FoldedState,
): boolean => (hasCheckpoint(change) ? stored !== undefined && same(stored, after) : stored === undefined);

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
export const same = (a: FoldedState, b: FoldedState): boolean =>
  a.state === null || b.state === null
    ? a.state === b.state
    : a.revision === b.revision && sameJson(a.state, b.state);
