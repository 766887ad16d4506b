import type { Lease } from './lease-store.js';

/** The partitions of this process, as it last heard; a commit asks the database, so being late here is safe. */
export interface HeldPartitions {
  /** The epoch under which a partition is held and served; `undefined` when it is not, or is being handed over. */
  epochOf(partition: number): number | undefined;
  all(): Lease[];
  hold(leases: readonly Lease[]): void;
  /** No new work for these: they are about to be given back. */
  drain(partitions: readonly number[]): void;
  drop(partitions: readonly number[]): void;
  /** Drops those that are held under these very epochs: another may have been taken since. */
  dropLost(leases: readonly Lease[]): void;
}

export interface HeldPartitionsEvents {
  /** An epoch is no longer valid: what is remembered of the partition is worthless. */
  readonly onDropped: (partition: number) => void;
  readonly onTaken: (partition: number) => void;
}

export function createHeldPartitions({ onDropped, onTaken }: HeldPartitionsEvents): HeldPartitions {
  const epochs = new Map<number, number>();
  const draining = new Set<number>();
  const drop = (partitions: readonly number[]) => {
    for (const partition of partitions) {
      draining.delete(partition);
      if (epochs.delete(partition)) onDropped(partition);
    }
  };
  return {
    epochOf: (partition) => (draining.has(partition) ? undefined : epochs.get(partition)),
    all: () => [...epochs].map(([partition, epoch]) => ({ partition, epoch })),
    hold: (leases) => {
      for (const { partition, epoch } of leases) {
        // Epochs only grow: an older one is an answer that came late.
        if ((epochs.get(partition) ?? -1) >= epoch) continue;
        drop([partition]);
        epochs.set(partition, epoch);
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
