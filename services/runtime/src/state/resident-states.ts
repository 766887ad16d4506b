import { type HeldPartitions, NotOwner, partitionOf } from '../ownership/partitions.js';
import type { DeploymentState } from './deployment-state.js';

/** The deployments that this process has in memory. */
export interface ResidentStates {
  /** The state, from memory or the database; `undefined` for a deployment that does not exist. @throws NotOwner */
  get(deploymentId: number): Promise<DeploymentState | undefined> | DeploymentState | undefined;
  /** The state in memory, if it is there. */
  peek(deploymentId: number): DeploymentState | undefined;
  /** Whether this is still the state to decide against. */
  isCurrent(state: DeploymentState): boolean;
  /** Drops the state in memory, and one that is being read: callers that wait for that get one that is read again. */
  forget(deploymentId: number): void;
  forgetPartition(partition: number): void;
  /** Removes the least recently used states until memory is within its bounds again, but none of `needed`. */
  trim(needed: ReadonlySet<number>): void;
}

export interface ResidentLimits {
  /** Bytes that all instances in memory may take, roughly. */
  readonly maxBytes: number;
  readonly maxDeployments: number;
}

/** Reads a deployment under the epoch that its partition is held under. */
type ReadState = (deploymentId: number, epoch: number) => Promise<DeploymentState | undefined>;

export function createResidentStates(
  read: ReadState,
  held: Pick<HeldPartitions, 'epochOf'>,
  limits: ResidentLimits,
): ResidentStates {
  /** In the order of their last use. */
  const states = new Map<number, DeploymentState>();
  const loading = new Map<number, Promise<DeploymentState | undefined>>();

  const load = async (id: number, isWanted: () => boolean): Promise<DeploymentState | undefined> => {
    const epoch = epochFor(id);
    const state = await read(id, epoch);
    if (held.epochOf(partitionOf(id)) !== epoch) throw new NotOwner(partitionOf(id));
    // It was forgotten meanwhile: it may have been read before a commit that is durable by now.
    if (!isWanted()) return loadOnce(id);
    if (state !== undefined) states.set(id, state);
    return state;
  };
  const epochFor = (id: number): number => {
    const epoch = held.epochOf(partitionOf(id));
    if (epoch === undefined) throw new NotOwner(partitionOf(id));
    return epoch;
  };
  const loadOnce = (id: number): Promise<DeploymentState | undefined> => {
    const before = loading.get(id);
    if (before !== undefined) return before;
    const isWanted = () => loading.get(id) === promise;
    const promise = load(id, isWanted).finally(() => isWanted() && loading.delete(id));
    loading.set(id, promise);
    return promise;
  };

  return {
    get: (id) => {
      const epoch = epochFor(id);
      const state = states.get(id);
      if (state?.epoch !== epoch) return loadOnce(id);
      states.delete(id);
      states.set(id, state);
      return state;
    },
    peek: (id) => states.get(id),
    isCurrent: (state) => states.get(state.id) === state && held.epochOf(state.partition) === state.epoch,
    forget: (id) => {
      states.delete(id);
      loading.delete(id);
    },
    forgetPartition: (partition) => {
      for (const id of states.keys()) if (partitionOf(id) === partition) states.delete(id);
    },
    trim: (needed) => trim(states, limits, needed),
  };
}

function trim(
  states: Map<number, DeploymentState>,
  { maxBytes, maxDeployments }: ResidentLimits,
  needed: ReadonlySet<number>,
): void {
  let bytes = 0;
  for (const state of states.values()) bytes += state.instances.bytes();
  for (const [id, state] of states) {
    if (bytes <= maxBytes && states.size <= maxDeployments) return;
    if (needed.has(id)) continue;
    bytes -= state.instances.bytes();
    states.delete(id);
  }
}
