import { createMeter } from '@orrery/service-kit';

/** What the catalog measures. */
export interface CatalogSignals {
  /** Claims that the sweep gave back because nobody held them any more. */
  claimsReleased(count: number): void;
  /** Deployments that the sweep could not ask about. */
  claimsUnanswered(count: number): void;
}

export function catalogSignals(): CatalogSignals {
  const meter = createMeter('catalog');
  const released = meter.createCounter('orrery_catalog_claims_released', {
    description: 'Claims given back by the sweep',
  });
  const unanswered = meter.createCounter('orrery_catalog_claims_unanswered', {
    description: 'Deployments whose owner did not answer the sweep',
  });
  return {
    claimsReleased: (count) => released.add(count),
    claimsUnanswered: (count) => unanswered.add(count),
  };
}
