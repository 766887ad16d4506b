import { createMeter } from '@orrery/service-kit';

/** What the catalog measures. */
export interface CatalogSignals {
  /** Claims that the sweep released because their deployment no longer holds them. */
  claimsReleased(count: number): void;
  /** Deployments whose owner did not answer the sweep. */
  claimsUnanswered(count: number): void;
}

export function catalogSignals(): CatalogSignals {
  const meter = createMeter('catalog');
  const released = meter.createCounter('orrery_catalog_claims_released', {
    description: 'Claims released by the sweep',
  });
  const unanswered = meter.createCounter('orrery_catalog_claims_unanswered', {
    description: 'Deployments whose owner did not answer the sweep',
  });
  return {
    claimsReleased: (count) => released.add(count),
    claimsUnanswered: (count) => unanswered.add(count),
  };
}
