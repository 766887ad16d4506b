import {
  type CallContext,
  type Handlers,
  type ReplyOf,
  type RequestOf,
  type referenceRpcs,
  ServiceError,
} from '@orrery/contracts';
import type { RuntimeContext } from '../context.js';
import type { DeploymentState } from '../lanes/deployment-state.js';
import type { WorkItem } from '../lanes/work-item.js';
import { partitionOf } from '../ownership/partition.js';
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

export type ReferenceDependencies = Pick<RuntimeContext, 'lanes' | 'directory'>;

/** At the owner. @throws NotOwner */
export async function heldHere(
  { lanes, directory }: ReferenceDependencies,
  request: RequestOf<Held>,
  call: CallContext,
): Promise<ReplyOf<Held>> {
  const deployment = await directory.byAddress(request.deployment);
  if (deployment === undefined) return GONE;
  try {
    return await lanes.submit(heldItem(deployment, request, call));
  } catch (error) {
    if (error instanceof ServiceError && error.code === 'deployment_not_found') return GONE;
    throw error;
  }
}

function heldItem(
  deployment: KnownDeployment,
  { versionIds, schemaIds }: RequestOf<Held>,
  { deadline, signal }: CallContext,
): WorkItem<ReplyOf<Held>> {
  return {
    deploymentId: deployment.id,
    deadline,
    signal,
    prepare: () => undefined,
    decide: (state) => {
      const bound = new Set([...state.bindings.values()].map(({ versionId }) => versionId));
      const claimed = claimedIds(state);
      return {
        kind: 'answer',
        answer: {
          exists: true,
          versionIds: versionIds.filter((id) => bound.has(id)),
          schemaIds: schemaIds.filter((id) => claimed.has(id)),
        },
      };
    },
  };
}

/** A schema is held until `release-empty-schema` has let go of it; one that no instance followed is let go of here. */
function claimedIds({ claimedSchemas, instances }: DeploymentState): Set<number> {
  for (const [name, { committed }] of claimedSchemas) {
    if (!committed && !instances.hasAny(name)) claimedSchemas.delete(name);
  }
  return new Set([...claimedSchemas.values()].map(({ schemaId }) => schemaId));
}
