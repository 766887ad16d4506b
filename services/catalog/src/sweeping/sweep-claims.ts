import { type Bus, serviceCall } from '@orrery/bus';
import { runtimeContract } from '@orrery/contracts';
import type { Clock, Logger, PollOutcome } from '@orrery/service-kit';
import { releaseSeen, takeUnchecked } from '../claims/claim-store.js';
import { type Db, nowOf } from '../database/db.js';
import type { ClaimRow } from '../database/schema.js';
import type { CatalogSignals } from '../signals.js';
import { type Held, idsOf, notHeld } from './claims-held.js';

/** What sweeps need. */
export interface SweepDependencies {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Deployments checked by one sweep. */
const DEPLOYMENTS_PER_RUN = 20;

/** Asks the deployment's owner which of these it still refers to; the owner answers in the deployment's lane. */
export type AskHeld = (
  asked: { deployment: string; versionIds: number[]; schemaIds: number[] },
  signal: AbortSignal,
) => Promise<Held>;

export interface SweepOptions {
  readonly graceMs: number;
  readonly askHeld: AskHeld;
  readonly signals: CatalogSignals;
}

/**
 * Releases claims that nothing holds: of a binding that was never committed, an unbound version, a deleted deployment.
 *
 * A claim made again while the owner is asked has another revision and stays. The owner's answer includes everything
 * that it committed before, since both happen in the deployment's lane (docs/adr/0014).
 */
export async function sweepClaims(
  context: SweepDependencies,
  options: SweepOptions,
  signal: AbortSignal,
): Promise<PollOutcome> {
  const now = nowOf(context);
  const before = new Date(now.getTime() - options.graceMs);
  const claims = await takeUnchecked(context.db, before, now, DEPLOYMENTS_PER_RUN);
  const deployments = new Set(claims.map(({ deployment }) => deployment));
  for (const deployment of deployments) {
    const itsClaims = claims.filter((claim) => claim.deployment === deployment);
    await sweepDeployment(context, options, deployment, itsClaims, signal);
  }
  return deployments.size === DEPLOYMENTS_PER_RUN ? 'more' : 'idle';
}

async function sweepDeployment(
  { db, logger }: SweepDependencies,
  { askHeld, signals }: SweepOptions,
  deployment: string,
  claims: ClaimRow[],
  signal: AbortSignal,
): Promise<void> {
  const asked = {
    deployment,
    versionIds: idsOf(claims, 'version'),
    schemaIds: idsOf(claims, 'schema'),
  };
  try {
    const held = await askHeld(asked, signal);
    const free = notHeld(claims, held);
    const released = await Promise.all(
      CLAIM_KINDS.map((kind) => releaseSeen(db, deployment, kind, seenOf(free, kind))),
    );
    signals.claimsReleased(released.reduce((sum, count) => sum + count, 0));
  } catch (error) {
    if (signal.aborted) return;
    // The next sweep after the grace period retries; until then the claims stay.
    logger.warn(
      { err: error, deployment },
      'owner did not answer which claims it holds; the next sweep retries',
    );
    signals.claimsUnanswered(1);
  }
}

const CLAIM_KINDS = ['world', 'version', 'schema'] as const;

const seenOf = (claims: readonly ClaimRow[], kind: ClaimRow['kind']) =>
  claims
    .filter((claim) => claim.kind === kind)
    .map(({ target_id, revision }) => ({ id: target_id, revision }));

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
