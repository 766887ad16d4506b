import { createMeter } from '@orrery/service-kit';

/** What the runtime measures. */
export interface RuntimeSignals {
  /** One database commit and how many journal entries it took. */
  committed(entries: number): void;
  /** Leases that a commit found lost. */
  leasesLost(count: number): void;
}

export function runtimeSignals(): RuntimeSignals {
  const meter = createMeter('runtime');
  const entries = meter.createCounter('orrery_runtime_entries', { description: 'Journal entries committed' });
  const batches = meter.createHistogram('orrery_runtime_batch_entries', {
    description: 'Journal entries that shared a commit',
  });
  const lost = meter.createCounter('orrery_runtime_leases_lost', {
    description: 'Partitions that a commit found in other hands',
  });
  return {
    committed: (count) => {
      entries.add(count);
      batches.record(count);
    },
    leasesLost: (count) => lost.add(count),
  };
}
