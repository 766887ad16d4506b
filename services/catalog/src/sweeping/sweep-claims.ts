import { randomUUID } from 'node:crypto';
import type { Bus } from '@orrery/bus';
import { runtimeContract } from '@orrery/contracts';
import type { Clock, Logger, PollOutcome } from '@orrery/service-kit';
import { releaseSeen, takeUnchecked } from '../claims/claim-store.js';
import { type Db, nowOf } from '../database/db.js';
import type { ClaimRow } from '../database/schema.js';
import type { CatalogSignals } from '../signals.js';
import { type Held, idsOf, notHeld } from './claims-held.js';

/** What sweeps work with. */
export interface SweepDependencies {
  readonly db: Db;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** Deployments asked after in one run. */
const DEPLOYMENTS_PER_RUN = 20;

/** Asks the deployment's owner, in its lane, which of these it still refers to. */
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
 * Releases what is claimed and not held: a binding that was never committed, an unbound version, a deleted deployment.
 *
 * A claim made anew while its owner is asked has another revision and stays. Whatever the owner committed before it
 * answered, it says it holds: both happen in the deployment's lane.
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
    const released = await Promise.all(notHeld(claims, held).map((claim) => releaseSeen(db, claim)));
    signals.claimsReleased(released.filter((count) => count > 0).length);
  } catch (error) {
    if (signal.aborted) return;
    // It comes up again after the grace; meanwhile the claims keep what they protect.
    logger.warn({ err: error, deployment }, 'could not ask which claims are held');
    signals.claimsUnanswered(1);
  }
}

const TIMEOUT_MS = 10_000;

/** The runtime answers for its deployments. */
export const askRuntime =
  (bus: Bus, clock: Clock): AskHeld =>
  (asked, signal) =>
    bus.call(runtimeContract.rpcs['references.held'], asked, {
      caller: { kind: 'service', service: 'catalog' },
      requestId: randomUUID(),
      deadline: clock.now() + TIMEOUT_MS,
      signal,
    });
