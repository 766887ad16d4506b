import { deleteExpiredKeys } from '@orrery/database';
import { type PollLoop, startPollLoop } from '@orrery/service-kit';
import type { CatalogConfig } from '../config.js';
import type { CatalogSignals } from '../signals.js';
import type { SweepDependencies } from './sweep-claims.js';
import { type AskHeld, sweepClaims } from './sweep-claims.js';

const KEYS_PER_RUN = 1000;

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
  const keys = startPollLoop({
    name: 'idempotency key sweep',
    intervalMs,
    clock,
    logger,
    runOnce: async () =>
      (await deleteExpiredKeys(db, clock.now(), KEYS_PER_RUN)) === KEYS_PER_RUN ? 'more' : 'idle',
  });
  return { claims, keys };
}
