import {
  type CallContext,
  type Handlers,
  type ReplyOf,
  type RequestOf,
  type referenceRpcs,
  ServiceError,
} from '@orrery/contracts';
import type { KeyedMutex } from '@orrery/service-kit';
import type { Db } from '../database/db.js';
import type { DeploymentDirectory, KnownDeployment } from '../deployments/deployment-directory.js';
import type { Lanes } from '../lanes/lanes.js';
import { partitionOf } from '../ownership/partitions.js';
import type { RouteToOwner } from '../ownership/route-to-owner.js';
import type { DeploymentState } from '../state/deployment-state.js';
import { ofInstancesIn } from '../state/open-runs.js';
import type { WorkItem } from '../state/work-item.js';
import { emptySchemas, removeClaims } from './claim-store.js';

type Held = (typeof referenceRpcs)['references.held'];

const GONE = { exists: false, versionIds: [], schemaIds: [] };

export interface ReferenceDependencies {
  readonly db: Db;
  readonly directory: Pick<DeploymentDirectory, 'byAddress'>;
  readonly lanes: Pick<Lanes, 'submit'>;
  /** Claims and releases run one at a time per deployment. */
  readonly claimMutex: KeyedMutex;
}

/** Answers the catalog's sweep, in the deployment's lane and so after everything that was committed before. */
export function referenceHandlers(
  dependencies: ReferenceDependencies & { readonly route: RouteToOwner },
): Handlers<typeof referenceRpcs> {
  return {
    'references.held': async (request, call) => {
      const deployment = await dependencies.directory.byAddress(request.deployment);
      if (deployment === undefined) return GONE;
      const here = () => heldHere(dependencies, request, call);
      const partition = partitionOf(deployment.id);
      return dependencies.route({ name: 'references.held', partition, request, here }, call);
    },
  };
}

/** At the owner, never at the same time as a claim, so no claim is renewed before its row is removed. @throws NotOwner */
export async function heldHere(
  { db, lanes, directory, claimMutex }: ReferenceDependencies,
  request: RequestOf<Held>,
  call: CallContext,
): Promise<ReplyOf<Held>> {
  const deployment = await directory.byAddress(request.deployment);
  if (deployment === undefined) return GONE;
  try {
    return await claimMutex.run(deployment.id, async () => {
      const { held, state } = await lanes.submit(heldItem(db, deployment, request, call));
      // Also removes rows that an earlier answer failed to remove: a schema that is not held has no row.
      const free = request.schemaIds.filter((id) => !held.schemaIds.includes(id));
      await removeClaims(db, state, free);
      return held;
    });
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'deployment_not_found') return GONE;
    throw error;
  }
}

function heldItem(
  db: Db,
  deployment: KnownDeployment,
  { versionIds, schemaIds }: RequestOf<Held>,
  { deadline, signal }: CallContext,
): WorkItem<{ held: ReplyOf<Held>; state: DeploymentState }> {
  let empty: ReadonlySet<string> = new Set();
  return {
    deploymentId: deployment.id,
    deadline,
    signal,
    prepare: async (state) => {
      const candidates = [...state.claimedSchemas].filter(([, { schemaId }]) => schemaIds.includes(schemaId));
      empty = await emptySchemas(
        db,
        state.id,
        candidates.map(([name]) => name),
      );
    },
    decide: (state) => {
      releaseEmpty(state, empty);
      const bound = new Set([...state.bindings.values()].map(({ versionId }) => versionId));
      const claimed = new Set([...state.claimedSchemas.values()].map(({ schemaId }) => schemaId));
      const held = {
        exists: true,
        versionIds: versionIds.filter((id) => bound.has(id)),
        schemaIds: schemaIds.filter((id) => claimed.has(id)),
      };
      return { kind: 'answer', answer: { held, state } };
    },
  };
}

/**
 * A claim lasts as long as its schema has an instance. Instances that were created since the database was read, or that
 * are not committed yet, are in memory; a first instance after this claims the schema again. A run that waits for its
 * payment has claimed the schemas of the instances that it will create, and holds these.
 */
function releaseEmpty(
  { claimedSchemas, instances, runs }: DeploymentState,
  empty: ReadonlySet<string>,
): void {
  for (const name of empty)
    if (!instances.hasAny(name) && !runs.isHeld(ofInstancesIn(name))) claimedSchemas.delete(name);
}
