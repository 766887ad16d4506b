import { type Bus, serviceCall } from '@orrery/bus';
import {
  type Cancellation,
  catalogContract,
  type DeploymentLifecycle,
  runtimeContract,
  ServiceError,
  type VersionDefinition,
} from '@orrery/contracts';
import { transaction } from '@orrery/database';
import type { Clock } from '@orrery/service-kit';
import type { DatabaseClock } from '../database/database-clock.js';
import type { Db } from '../database/db.js';
import { endSync, holdClaim, type SyncClaim } from './sync-queue.js';
import { endSchedules, type Facts, writeSchedules } from './write-schedules.js';

export interface SyncDependencies {
  readonly db: Db;
  readonly bus: Pick<Bus, 'call'>;
  readonly clock: Clock;
  readonly databaseNow: DatabaseClock;
}

const TIMEOUT_MS = 10_000;

/**
 * Makes a deployment's schedules equal to what it has bound: asks the runtime what it is and how it came there, the
 * catalog what the bound versions say, and commits what follows. It asks after it has the claim, so what one sync commits
 * is never older than what the one before it did. Resolves with false when the claim was lost meanwhile.
 */
export async function syncDeployment(
  dependencies: SyncDependencies,
  claim: SyncClaim,
  signal: Cancellation,
): Promise<boolean> {
  const { db, databaseNow } = dependencies;
  const { deployment } = claim;
  const facts = await askFacts(dependencies, deployment, signal);
  const now = facts?.now ?? (await databaseNow());
  return transaction(db, async (trx) => {
    if (!(await holdClaim(trx, claim))) return false;
    await (facts === undefined ? endSchedules(trx, deployment, now) : writeSchedules(trx, facts));
    await endSync(trx, claim, now);
    return true;
  });
}

/** Undefined where the runtime knows no such deployment. */
async function askFacts(
  dependencies: SyncDependencies,
  deployment: string,
  signal: Cancellation,
): Promise<Facts | undefined> {
  const { db, databaseNow } = dependencies;
  const known = await db
    .selectFrom('deployments')
    .selectAll()
    .where('address', '=', deployment)
    .executeTakeFirst();
  const askedAt = await databaseNow();
  const lifecycle = await askLifecycle(dependencies, { deployment, after: known?.seq ?? 0 }, signal);
  if (lifecycle === undefined) return undefined;
  const aheadMs = aheadOf(Date.parse(lifecycle.now), askedAt, await databaseNow());
  const definitions = await askDefinitions(dependencies, lifecycle, signal);
  return { known, lifecycle, definitions, askedAt, aheadMs, now: await databaseNow() };
}

async function askLifecycle(
  { bus, clock }: SyncDependencies,
  request: { readonly deployment: string; readonly after: number },
  signal: Cancellation,
): Promise<DeploymentLifecycle | undefined> {
  try {
    const options = serviceCall('scheduler', clock, TIMEOUT_MS, signal);
    return await bus.call(runtimeContract.rpcs['lifecycle.read'], request, options);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'deployment_not_found') return undefined;
    throw error;
  }
}

/** Runtimes tell the time of the database up to this, in milliseconds; those of earlier releases have a clock of their own. */
const EXACT_MS = 1_000;

/**
 * How far the database's clock is ahead of one that read `theirs` between two times of the database, at least: 0 where it
 * may be right. In milliseconds.
 */
export function aheadOf(theirs: number, before: number, after: number): number {
  if (theirs < before - EXACT_MS) return before - theirs;
  return theirs > after + EXACT_MS ? after - theirs : 0;
}

/** What the bound versions say, by their ids. One that the catalog does not know is left out. */
async function askDefinitions(
  { bus, clock }: SyncDependencies,
  { bindings }: DeploymentLifecycle,
  signal: Cancellation,
): Promise<ReadonlyMap<number, VersionDefinition>> {
  const ids = [...new Set(bindings.map(({ versionId }) => versionId))];
  const { versions } = await bus.call(
    catalogContract.rpcs['definitions.confirm'],
    { versions: ids.map((versionId) => ({ versionId, hash: '' })), schemas: [], worlds: [] },
    serviceCall('scheduler', clock, TIMEOUT_MS, signal),
  );
  return new Map(
    versions.flatMap((answer, index) =>
      answer.state === 'changed' ? [[ids[index] ?? 0, answer.definition] as const] : [],
    ),
  );
}
