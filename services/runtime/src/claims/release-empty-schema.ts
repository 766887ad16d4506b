import type { CallContext } from '@orrery/contracts';
import type { KeyedMutex, Logger } from '@orrery/service-kit';
import type { CatalogClient } from '../catalog/catalog-client.js';
import type { Db } from '../database/db.js';
import type { KnownDeployment } from '../deployments/deployment-directory.js';
import type { Lanes } from '../lanes/lanes.js';
import type { ClaimedSchema, DeploymentState } from '../state/deployment-state.js';
import { ofInstancesIn } from '../state/open-runs.js';
import type { WorkItem } from '../state/work-item.js';
import { emptySchemas, removeClaims } from './claim-store.js';

export type ReleaseEmptySchema = (
  deployment: KnownDeployment,
  schema: string,
  call: CallContext,
) => Promise<void>;

export interface ReleaseDependencies {
  readonly db: Db;
  readonly lanes: Pick<Lanes, 'submit'>;
  readonly catalog: Pick<CatalogClient, 'release'>;
  readonly claimMutex: KeyedMutex;
  readonly logger: Logger;
}

/**
 * Releases a claim at once, so an unused schema can be deleted without waiting for the catalog's sweep. Never fails the
 * call that it follows. Once the lane has released the claim, a new instance claims the schema again, after this.
 */
export const createReleaseEmptySchema =
  ({ db, lanes, catalog, claimMutex, logger }: ReleaseDependencies): ReleaseEmptySchema =>
  (deployment, schema, call) =>
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
      if (claim === undefined || !seen?.isEmpty || state.instances.hasAny(schema)) return STILL_USED;
      // A run that waits for its payment has claimed it for the instances that it will create.
      if (state.runs.isHeld(ofInstancesIn(schema))) return STILL_USED;
      // The result of the read is reliable only while nothing has been committed since.
      if (seen?.seq !== state.head.seq) return { kind: 'prepare' };
      state.claimedSchemas.delete(schema);
      return { kind: 'answer', answer: { claim, state } };
    },
  };
}

const STILL_USED = { kind: 'answer', answer: undefined } as const;
