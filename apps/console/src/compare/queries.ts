import type { Orrery } from '@orrery/sdk';
import {
  deploymentKey,
  deploymentPath,
  HISTORY,
  INSTANCES,
  instanceKey,
  splitKey,
} from '../api/deployments.js';
import { useRead } from '../api/read.js';
import type { DeploymentRef } from '../api/records.js';
import type { JournalEntry } from '../live/entry-words.js';
import { statesAt } from '../run/execute.js';
import type { ReadSide, Stated } from './states.js';

/** A deployment after an entry; undefined: as it is now. */
export interface Side {
  readonly ref: DeploymentRef;
  readonly seq: number | undefined;
}

/** Instances of a side that are compared. */
const MOST_COMPARED = 5000;

export interface SideState extends ReadSide {
  /** How many there are, at least. */
  readonly total: number;
}

export const useSideState = ({ ref, seq }: Side) =>
  useRead<SideState>([...deploymentKey(ref), 'compared', seq ?? 'now'], async (orrery, signal) => {
    const instances: Stated[] = [];
    const at = seq === undefined ? {} : { atSeq: seq };
    for await (const instance of orrery.deployment(ref.world, ref.deployment).instances({ ...at, signal })) {
      if (instances.length >= MOST_COMPARED) return { instances, total: MOST_COMPARED, isCut: true };
      instances.push(instance);
    }
    return { instances, total: instances.length, isCut: false };
  });

/** Entries between two moments of one deployment that are looked through. */
const MOST_BETWEEN = 1000;
/** Instances that they may have changed: each is asked for alone, on both sides, where 5,000 are 50 pages of a list. */
const MOST_CHANGED = 40;

/**
 * Both sides where they are near moments of one deployment: only what the entries between them changed can differ. Null
 * where they are not: then all instances are read.
 */
export const useNearStates = (left: Side, right: Side) =>
  useRead<readonly [SideState, SideState] | null>(
    [
      ...deploymentKey(left.ref),
      'compared near',
      left.seq ?? 'now',
      right.ref.deployment,
      right.seq ?? 'now',
    ],
    async (orrery, signal) => {
      const seqs = [left.seq, right.seq].filter((seq) => seq !== undefined).sort((a, b) => a - b);
      const [from, to] = seqs;
      const isOne = left.ref.deployment === right.ref.deployment;
      if (!isOne || from === undefined || to === undefined || to - from > MOST_BETWEEN) return null;
      const changed = await changedBetween(orrery, left.ref, { from, to }, signal);
      if (changed.size > MOST_CHANGED) return null;
      const side = (seq = to) => sideOf(orrery, left.ref, [...changed], seq, signal);
      return Promise.all([side(left.seq), side(right.seq)]);
    },
  );

/** The instances that the entries after `from` up to `to` have changed, those of one entry more than are of use at most. */
export async function changedBetween(
  orrery: Orrery,
  ref: DeploymentRef,
  { from, to }: { readonly from: number; readonly to: number },
  signal: AbortSignal,
): Promise<Set<string>> {
  const changed = new Set<string>();
  const entries = orrery.deployment(ref.world, ref.deployment).journal({ after: from, until: to, signal });
  for await (const { changes } of entries) {
    for (const change of changes) changed.add(instanceKey(change));
    if (changed.size > MOST_CHANGED) break;
  }
  return changed;
}

async function sideOf(
  orrery: Orrery,
  ref: DeploymentRef,
  keys: readonly string[],
  seq: number,
  signal: AbortSignal,
): Promise<SideState> {
  const query = { atSeq: seq, limit: 1 };
  const { pagination } = await orrery.answer('get', INSTANCES, { path: deploymentPath(ref), query, signal });
  const states = await statesAt(orrery, ref, keys, seq, signal);
  const instances = [...states].flatMap(([key, state]) =>
    state === null ? [] : [{ ...splitKey(key), state }],
  );
  return { instances, total: pagination.total ?? instances.length, isCut: false };
}

/** The entry of a side, null where the journal has none of that number; undefined for one as it is now. */
export const useSideEntry = ({ ref, seq }: Side) =>
  useRead<JournalEntry | null>(
    [...deploymentKey(ref), 'compared entry', seq ?? 'now'],
    async (orrery, signal) => {
      const query = { include: 'all', after: (seq ?? 0) + 1, limit: 1 } as const;
      const [entry] = await orrery.get(HISTORY, { path: deploymentPath(ref), query, signal });
      return entry?.seq === seq ? (entry ?? null) : null;
    },
    { enabled: seq !== undefined },
  );
