import { type Bus, serviceCall } from '@orrery/bus';
import { runtimeContract } from '@orrery/contracts';
import { startKeySweep } from '@orrery/database';
import {
  type Clock,
  createMeter,
  type Logger,
  type PollLoop,
  type PollOutcome,
  startPollLoop,
} from '@orrery/service-kit';
import { CLAIM_KINDS, type Held, idsOf, notHeld } from '../core/claims.js';
import { releaseSeen, takeUnchecked } from '../store/claims/claim-store.js';
import { type Db, nowOf } from '../store/tables/db.js';
import type { ClaimRow } from '../store/tables/schema.js';

export interface SweepTimes {
  /** Interval of the sweep of claims, in milliseconds. */
  readonly sweepIntervalMs: number;
  /** The sweep skips claims younger than this, since their deployment may still commit. In milliseconds. */
  readonly claimGraceMs: number;
}

/** Asks the deployment's owner which of these it still refers to; the owner answers in the deployment's lane. */
export type AskHeld = (
  asked: { deployment: string; versionIds: number[]; schemaIds: number[] },
  signal: AbortSignal,
) => Promise<Held>;

const TIMEOUT_MS = 10_000;

/** Calls the runtime, which owns the deployments. */
export const askRuntime =
  (bus: Bus, clock: Clock): AskHeld =>
  (asked, signal) =>
    bus.call(
      runtimeContract.rpcs['references.held'],
      asked,
      serviceCall('catalog', clock, TIMEOUT_MS, signal),
    );

export interface Sweeps {
  /** Releases claims that nothing holds. */
  readonly claims: PollLoop;
  /** Deletes expired idempotency keys. */
  readonly keys: PollLoop;
}

interface SweepOptions {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly askHeld: AskHeld;
  readonly times: SweepTimes;
}

export function startSweeps(options: SweepOptions): Sweeps {
  const { db, clock, logger } = options;
  const loop = { clock, logger, intervalMs: options.times.sweepIntervalMs };
  const sweep = { ...options, ...sweepCounters() };
  const claims = startPollLoop({
    ...loop,
    // In one process with the runtime it starts first, and nobody would answer.
    startsIdle: true,
    name: 'claim sweep',
    runOnce: (signal) => sweepClaims(sweep, signal),
  });
  return { claims, keys: startKeySweep(db, loop) };
}

function sweepCounters() {
  const meter = createMeter('catalog');
  const released = meter.createCounter('orrery_catalog_claims_released', {
    description: 'Claims released by the sweep',
  });
  const unanswered = meter.createCounter('orrery_catalog_claims_unanswered', {
    description: 'Deployments whose owner did not answer the sweep',
  });
  return { released, unanswered };
}

type Sweep = SweepOptions & ReturnType<typeof sweepCounters>;

const DEPLOYMENTS_PER_RUN = 20;

/**
 * Releases claims that nothing holds: of a binding that was never committed, an unbound version, a deleted deployment.
 *
 * A claim made again while the owner is asked has another revision and stays. The owner's answer includes everything
 * that it committed before, since both happen in the deployment's lane (docs/adr/0014).
 */
async function sweepClaims(sweep: Sweep, signal: AbortSignal): Promise<PollOutcome> {
  const now = nowOf(sweep);
  const before = new Date(now.getTime() - sweep.times.claimGraceMs);
  const claims = await takeUnchecked(sweep.db, before, now, DEPLOYMENTS_PER_RUN);
  const byDeployment = Map.groupBy(claims, ({ deployment }) => deployment);
  for (const [deployment, its] of byDeployment) await sweepDeployment(sweep, deployment, its, signal);
  return byDeployment.size === DEPLOYMENTS_PER_RUN ? 'more' : 'idle';
}

async function sweepDeployment(
  { db, logger, askHeld, released, unanswered }: Sweep,
  deployment: string,
  claims: ClaimRow[],
  signal: AbortSignal,
): Promise<void> {
  const asked = { deployment, versionIds: idsOf(claims, 'version'), schemaIds: idsOf(claims, 'schema') };
  try {
    const free = notHeld(claims, await askHeld(asked, signal));
    const counts = await Promise.all(
      CLAIM_KINDS.map((kind) => releaseSeen(db, deployment, kind, seenOf(free, kind))),
    );
    released.add(counts.reduce((sum, count) => sum + count, 0));
  } catch (error) {
    if (signal.aborted) return;
    // The next sweep after the grace period retries; until then the claims stay.
    logger.warn(
      { err: error, deployment },
      'owner did not answer which claims it holds; the next sweep retries',
    );
    unanswered.add(1);
  }
}

const seenOf = (claims: readonly ClaimRow[], kind: ClaimRow['kind']) =>
  claims
    .filter((claim) => claim.kind === kind)
    .map(({ target_id, revision }) => ({ id: target_id, revision }));
