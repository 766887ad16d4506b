import {
  type CallContext,
  type Handlers,
  type ReplyOf,
  type RequestOf,
  type referenceRpcs,
  ServiceError,
} from '@orrery/contracts';
import type { WorkItem } from '../../lane/items/work-item.js';
import { emptySchemas, removeClaims } from '../../store/deployments/claim-store.js';
import { deploymentAt, type KnownDeployment } from '../../store/deployments/deployment-directory.js';
import {
  type ClaimedSchema,
  type DeploymentState,
  ofInstancesIn,
} from '../../store/state/deployment-state.js';
import type { Db } from '../../store/tables/schema.js';
import type { RuntimeContext } from '../context.js';

type Held = (typeof referenceRpcs)['references.held'];

const GONE = { exists: false, versionIds: [], schemaIds: [] };

/**
 * Answers the catalog's sweep at the owner, in the deployment's lane and so after everything that was committed before.
 * Never at the same time as a claim, so no claim is renewed before its row is removed.
 * @throws NotOwner, `deployment_not_found` for one that is not in this database: `untilGone` answers it
 */
export async function heldHere(
  { db, lanes, directory, claimMutex }: RuntimeContext,
  request: RequestOf<Held>,
  call: CallContext,
): Promise<ReplyOf<Held>> {
  const deployment = await deploymentAt(directory, request.deployment);
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

/** A deployment that is in no database holds nothing; one that moves is asked where it lives. */
export const untilGone =
  (ask: Handlers<Pick<typeof referenceRpcs, 'references.held'>>['references.held']): typeof ask =>
  async (request, call) => {
    try {
      return await ask(request, call);
    } catch (error) {
      if (error instanceof ServiceError && error.code === 'deployment_not_found') return GONE;
      throw error;
    }
  };

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
      const names = state.claimedSchemas
        .entries()
        .flatMap(([name, { schemaId }]) => (schemaIds.includes(schemaId) ? [name] : []));
      empty = await emptySchemas(db, state.id, [...names]);
    },
    decide: (state) => {
      for (const name of empty) if (!isUsed(state, name)) state.claimedSchemas.delete(name);
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
 * Whether a claim is used: it lasts as long as its schema has an instance. Instances that were created since the database
 * was read, or that are not committed yet, are in memory; a first instance after this claims the schema again. A run that
 * waits for its payment has claimed the schemas of the instances that it will create, and holds these.
 */
const isUsed = ({ instances, runs }: DeploymentState, schema: string): boolean =>
  instances.hasAny(schema) || runs.isHeld(ofInstancesIn(schema));

/**
 * Releases a claim at once, so an unused schema can be deleted without waiting for the catalog's sweep. Never fails the
 * call that it follows. Once the lane has released the claim, a new instance claims the schema again, after this.
 */
export const releaseEmptySchema = (
  { db, lanes, catalog, claimMutex, logger }: RuntimeContext,
  deployment: KnownDeployment,
  schema: string,
  call: CallContext,
): Promise<void> =>
  claimMutex
    .run(deployment.id, async () => {
      const released = await lanes.submit(releaseItem(db, deployment, schema, call));
      if (released === undefined) return;
      const { claim, state } = released;
      await removeClaims(db, state, [claim.schemaId]);
      const made = { id: claim.schemaId, revision: claim.revision };
      await catalog.release(deployment.address, { schemas: [made] });
    })
    .catch((error: unknown) =>
      logger.info({ err: error }, 'releasing the claim on an empty schema failed; the sweep releases it'),
    );

interface Released {
  readonly claim: ClaimedSchema;
  readonly state: DeploymentState;
}

/** Answers the schema whose claim was released, if it has no instances, and the state of the deployment then. */
function releaseItem(
  db: Db,
  deployment: Pick<KnownDeployment, 'id'>,
  schema: string,
  { deadline, signal }: Pick<CallContext, 'deadline' | 'signal'>,
): WorkItem<Released | undefined> {
  let seen: { seq: number; isEmpty: boolean } | undefined;
  return {
    deploymentId: deployment.id,
    deadline,
    signal,
    prepare: async (state) => {
      const { seq } = state.head;
      seen = { seq, isEmpty: (await emptySchemas(db, state.id, [schema])).has(schema) };
    },
    decide: (state) => {
      const claim = state.claimedSchemas.get(schema);
      if (claim === undefined || !seen?.isEmpty || isUsed(state, schema)) return STILL_USED;
      // The result of the read is reliable only while nothing has been committed since.
      if (seen?.seq !== state.head.seq) return { kind: 'prepare' };
      state.claimedSchemas.delete(schema);
      return { kind: 'answer', answer: { claim, state } };
    },
  };
}

const STILL_USED = { kind: 'answer', answer: undefined } as const;
