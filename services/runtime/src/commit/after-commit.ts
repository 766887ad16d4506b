import { createMeter } from '@orrery/service-kit';
import type { Publication } from '../journal/publication.js';
import type { HeldPartitions, Lease } from '../ownership/partitions.js';
import type { Batch } from '../state/batch.js';

export interface AfterCommitDependencies {
  readonly publication: Pick<Publication, 'committed'>;
  readonly held: Pick<HeldPartitions, 'dropLost'>;
  /** Looks at the leases now. */
  readonly wakeLeases: () => void;
}

/** What follows a commit: its entries are published; after a commit that found leases lost, their partitions are dropped. */
export interface AfterCommit {
  readonly onCommitted: (batch: Batch) => void;
  readonly onLost: (lost: readonly Lease[]) => void;
}

export function createAfterCommit({ publication, held, wakeLeases }: AfterCommitDependencies): AfterCommit {
  const meter = createMeter('runtime');
  const entries = meter.createCounter('orrery_runtime_entries', { description: 'Journal entries committed' });
  const batches = meter.createHistogram('orrery_runtime_batch_entries', {
    description: 'Journal entries that shared a commit',
  });
  const leasesLost = meter.createCounter('orrery_runtime_leases_lost', {
    description: 'Partitions that a commit found in other hands',
  });
  return {
    onCommitted: (batch) => {
      entries.add(batch.entries.length);
      batches.record(batch.entries.length);
      publication.committed(batch);
    },
    onLost: (lost) => {
      leasesLost.add(lost.length);
      held.dropLost(lost);
      wakeLeases();
    },
  };
}
