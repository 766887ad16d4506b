import {
  type CallContext,
  type Handlers,
  type ReplyOf,
  type RequestOf,
  type referenceRpcs,
  ServiceError,
} from '@orrery/contracts';
import type { RuntimeContext } from '../context.js';
import type { Db } from '../database/db.js';
import { emptySchemas, removeClaims } from '../instances/empty-claims.js';
import { partitionOf } from '../ownership/partition.js';
import type { DeploymentState } from '../state/deployment-state.js';
import type { WorkItem } from '../state/work-item.js';
import type { KnownDeployment } from './deployment-directory.js';

type Held = (typeof referenceRpcs)['references.held'];

const GONE = { exists: false, versionIds: [], schemaIds: [] };

/** What the catalog's sweep asks: answered in the deployment's lane, after everything that was committed before. */
export function referenceHandlers(context: RuntimeContext): Handlers<typeof referenceRpcs> {
  return {
    'references.held': async (request, call) => {
      const deployment = await context.directory.byAddress(request.deployment);
      if (deployment === undefined) return GONE;
      const here = () => heldHere(context, request, call);
      const name = 'references.held';
      return context.route({ name, partition: partitionOf(deployment.id), request, here }, call);
    },
  };
}

export type ReferenceDependencies = Pick<RuntimeContext, 'db' | 'lanes' | 'directory' | 'claimMutex'>;

/** At the owner, in turn with what claims, so that no claim is made anew before its row is removed. @throws NotOwner */
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
      // Also rows that an earlier answer failed to remove: what is not held has none.
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
      const asked = [...state.claimedSchemas].filter(([, { schemaId }]) => schemaIds.includes(schemaId));
      empty = await emptySchemas(
        db,
        state.id,
        asked.map(([name]) => name),
      );
    },
    decide: (state) => {
      letGo(state, empty);
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
 * A claim lasts as long as an instance of its schema. What was created since the database was read, or is on its way
 * there, is in memory; a first instance that comes after this claims anew.
 */
function letGo({ claimedSchemas, instances }: DeploymentState, empty: ReadonlySet<string>): void {
  for (const name of empty) if (!instances.hasAny(name)) claimedSchemas.delete(name);
}
