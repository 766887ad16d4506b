/** Deployments are owned in this many partitions; the number never changes once a database has been made. */
export const PARTITIONS = 64;

export const partitionOf = (deploymentId: number): number => deploymentId % PARTITIONS;

/**
 * The order in which partitions are taken; they are given back from its end. It reverses the six bits of the number, so
 * that the deployments of neighbouring ids are spread: of two processes one has the even and one the odd partitions.
 */
export const takingOrder = (partition: number): number =>
  [0, 1, 2, 3, 4, 5].reduce((order, bit) => order | (((partition >> bit) & 1) << (5 - bit)), 0);

/** A partition held by this process, and the epoch under which it is held. */
export interface Lease {
  readonly partition: number;
  readonly epoch: number;
}

/** This process does not own the deployment (any more): the call belongs to another. Never leaves the runtime. */
export class NotOwner extends Error {
  override readonly name = 'NotOwner';
  readonly partition: number;

  constructor(partition: number) {
    super(`partition ${partition} is not owned here`);
    this.partition = partition;
  }
}

/** The partitions of this process as it last knew. Each commit checks the leases in the database, so a delay is safe. */
export interface HeldPartitions {
  /** The epoch under which a partition is held and served; `undefined` when it is not, or is being handed over. */
  epochOf(partition: number): number | undefined;
  all(): Lease[];
  hold(leases: readonly Lease[]): void;
  /** No new work for these: they are about to be given back. A new epoch does not change that. */
  drain(partitions: readonly number[]): void;
  drop(partitions: readonly number[]): void;
  /** Drops those that are held under these very epochs: another may have been taken since. */
  dropLost(leases: readonly Lease[]): void;
}

interface HeldPartitionsEvents {
  /** An epoch is over: the states in memory of the partition are invalid. */
  readonly onEpochOver: (partition: number) => void;
  /** The partition is not held any more, under any epoch. */
  readonly onGone: (partition: number) => void;
  readonly onTaken: (partition: number) => void;
}

export function createHeldPartitions({ onEpochOver, onGone, onTaken }: HeldPartitionsEvents): HeldPartitions {
  const epochs = new Map<number, number>();
  const draining = new Set<number>();
  const drop = (partitions: readonly number[]) => {
    for (const partition of partitions) {
      draining.delete(partition);
      if (!epochs.delete(partition)) continue;
      onEpochOver(partition);
      onGone(partition);
    }
  };
  return {
    epochOf: (partition) => (draining.has(partition) ? undefined : epochs.get(partition)),
    all: () => [...epochs].map(([partition, epoch]) => ({ partition, epoch })),
    hold: (leases) => {
      for (const { partition, epoch } of leases) {
        // Epochs only grow: an older one comes from a late answer.
        const before = epochs.get(partition);
        if (before !== undefined && before >= epoch) continue;
        epochs.set(partition, epoch);
        if (before !== undefined) onEpochOver(partition);
        onTaken(partition);
      }
    },
    drain: (partitions) => {
      for (const partition of partitions) draining.add(partition);
    },
    drop,
    dropLost: (leases) => {
      for (const { partition, epoch } of leases) if (epochs.get(partition) === epoch) drop([partition]);
    },
  };
}
