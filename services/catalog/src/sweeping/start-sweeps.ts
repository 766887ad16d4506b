import { startKeySweep } from '@orrery/database';
import { type PollLoop, startPollLoop } from '@orrery/service-kit';
import type { CatalogConfig } from '../config.js';
import type { CatalogSignals } from '../signals.js';
import type { SweepDependencies } from './sweep-claims.js';
import { type AskHeld, sweepClaims } from './sweep-claims.js';

export interface Sweeps {
  /** Releases claims that nothing holds. */
  readonly claims: PollLoop;
  /** Deletes expired idempotency keys. */
  readonly keys: PollLoop;
}

export function startSweeps(
  context: SweepDependencies,
  { sweepIntervalMs: intervalMs, claimGraceMs: graceMs }: CatalogConfig,
  { askHeld, signals }: { askHeld: AskHeld; signals: CatalogSignals },
): Sweeps {
  const { db, clock, logger } = context;
  const claims = startPollLoop({
    name: 'claim sweep',
    intervalMs,
    clock,
    logger,
    runOnce: (signal) => sweepClaims(context, { graceMs, askHeld, signals }, signal),
  });
  return { claims, keys: startKeySweep(db, { clock, logger, intervalMs }) };
}
