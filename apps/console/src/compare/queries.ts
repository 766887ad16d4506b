import type { EntityInstance } from '@orrery/sdk';
import { deploymentKey, deploymentPath, HISTORY } from '../api/deployments.js';
import { useRead } from '../api/read.js';
import type { DeploymentRef } from '../api/records.js';
import type { JournalEntry } from '../live/entry-words.js';

/** A deployment after an entry; undefined: as it is now. */
export interface Side {
  readonly ref: DeploymentRef;
  readonly seq: number | undefined;
}

/** Instances of a side that are compared. */
const MOST_COMPARED = 5000;

export interface SideState {
  readonly instances: readonly EntityInstance[];
  /** There are more. */
  readonly isCut: boolean;
}

export const useSideState = ({ ref, seq }: Side) =>
  useRead<SideState>([...deploymentKey(ref), 'compared', seq ?? 'now'], async (orrery, signal) => {
    const instances: EntityInstance[] = [];
    const at = seq === undefined ? {} : { atSeq: seq };
    for await (const instance of orrery.deployment(ref.world, ref.deployment).instances({ ...at, signal })) {
      if (instances.length >= MOST_COMPARED) return { instances, isCut: true };
      instances.push(instance);
    }
    return { instances, isCut: false };
  });

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
