import { serviceCall } from '@orrery/bus';
import { catalogContract, type DeploymentLifecycle, runtimeContract, ServiceError } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { type BoundDefinition, definitionsBefore } from '../store/syncs/bound-definitions.js';
import { findFollowed } from '../store/syncs/followed-store.js';
import { endSync, holdClaim, type SyncClaim } from '../store/syncs/sync-queue.js';
import { endSchedules, type Facts, writeSchedules } from '../store/syncs/write-schedules.js';
import type { SchedulerContext } from './context.js';

const TIMEOUT_MS = 10_000;

/**
 * Makes a deployment's schedules equal to what it has bound: asks the runtime what it is and how it came there, the
 * catalog what the bound versions say, and commits what follows. It asks after it has the claim, so what one sync commits
 * is never older than what the one before it did. Resolves with false when the claim was lost meanwhile.
 */
export async function syncDeployment(
  dependencies: SchedulerContext,
  claim: SyncClaim,
  signal: AbortSignal,
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
  dependencies: SchedulerContext,
  deployment: string,
  signal: AbortSignal,
): Promise<Facts | undefined> {
  const { db, databaseNow } = dependencies;
  const known = await findFollowed(db, deployment);
  const askedAt = await databaseNow();
  const lifecycle = await askLifecycle(dependencies, { deployment, after: known?.seq ?? 0 }, signal);
  if (lifecycle === undefined) return undefined;
  const definitions = boundOnes(lifecycle, await askDefinitions(dependencies, lifecycle, signal));
  return { known, lifecycle, definitions, askedAt, now: await databaseNow() };
}

async function askLifecycle(
  { bus, clock }: SchedulerContext,
  request: { readonly deployment: string; readonly after: number },
  signal: AbortSignal,
): Promise<DeploymentLifecycle | undefined> {
  try {
    const options = serviceCall('scheduler', clock, TIMEOUT_MS, signal);
    return await bus.call(runtimeContract.rpcs['lifecycle.read'], request, options);
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'deployment_not_found') return undefined;
    throw error;
  }
}

/**
 * What the bound versions say, by their ids. One that the catalog does not know is left out. Only those that have changed since
 * the last sync are read; what has no room in a reply is asked for again.
 */
async function askDefinitions(
  { db, bus, clock }: SchedulerContext,
  lifecycle: DeploymentLifecycle,
  signal: AbortSignal,
): Promise<ReadonlyMap<number, BoundDefinition>> {
  const before = boundOnes(lifecycle, await definitionsBefore(db, lifecycle.deployment));
  const found = new Map<number, BoundDefinition>();
  let ids = [...new Set(lifecycle.bindings.map(({ versionId }) => versionId))];
  while (ids.length > 0) {
    const { versions } = await bus.call(
      catalogContract.rpcs['definitions.confirm'],
      {
        versions: ids.map((versionId) => ({ versionId, hash: before.get(versionId)?.hash ?? '' })),
        schemas: [],
        worlds: [],
        sharing: true,
      },
      serviceCall('scheduler', clock, TIMEOUT_MS, signal),
    );
    for (const [index, versionId] of ids.entries()) {
      const answer = versions[index];
      const known = answer?.state === 'same' ? before.get(versionId) : undefined;
      const definition = answer !== undefined && 'definition' in answer ? answer.definition : known;
      if (definition !== undefined) found.set(versionId, definition);
    }
    ids = ids.filter((_, index) => versions[index]?.state === 'later');
  }
  return found;
}

/** Without other versions that a restored catalog has given the ids of lost ones. */
const boundOnes = (
  { worldId, bindings }: DeploymentLifecycle,
  definitions: ReadonlyMap<number, BoundDefinition>,
): ReadonlyMap<number, BoundDefinition> =>
  new Map(
    bindings.flatMap(({ versionId, event, eventVersion }) => {
      const found = definitions.get(versionId);
      const isBound = found?.worldId === worldId && found.event === event && found.version === eventVersion;
      return isBound ? [[versionId, found]] : [];
    }),
  );
