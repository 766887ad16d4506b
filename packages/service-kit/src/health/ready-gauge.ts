import { createMeter } from '../telemetry/instruments.js';

interface Asked {
  recentReadiness(maxAgeMs: number): Promise<{
    readonly checks: Readonly<Record<string, { readonly status: string }>>;
  }>;
}

/** However often metrics are collected, they run the checks no more often than this, in milliseconds. */
const MAX_AGE_MS = 5000;

/** Tells in metrics what readiness finds, of each check: 0 when it is unavailable, so that no requests are sent here. */
export function tellReadiness(health: Asked): void {
  const known = new Set<string>();
  createMeter('process')
    .createObservableGauge('orrery_ready', { description: 'Whether a check lets requests be sent here' })
    .addCallback(async (result) => {
      const { checks } = await health.recentReadiness(MAX_AGE_MS);
      for (const check of Object.keys(checks)) known.add(check);
      // A check that is gone holds nothing up; an alert on it ends.
      for (const check of known) result.observe(checks[check]?.status === 'unavailable' ? 0 : 1, { check });
    });
}
