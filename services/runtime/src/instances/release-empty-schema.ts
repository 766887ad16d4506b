import type { CallContext } from '@orrery/contracts';
import type { KeyedMutex, Logger } from '@orrery/service-kit';
import type { CatalogClient } from '../catalog/catalog-client.js';
import type { Db } from '../database/db.js';
import type { KnownDeployment } from '../deployments/deployment-directory.js';
import type { Lanes } from '../lanes/lanes.js';
import type { DeploymentState } from '../state/deployment-state.js';
import type { WorkItem } from '../state/work-item.js';
import { emptySchemas, removeClaims } from './empty-claims.js';

export type ReleaseEmptySchema = (
  deployment: KnownDeployment,
  schema: string,
  call: CallContext,
) => Promise<void>;

export interface ReleaseDependencies {
  readonly db: Db;
  readonly lanes: Lanes;
  readonly catalog: Pick<CatalogClient, 'release'>;
  readonly claimMutex: KeyedMutex;
  readonly logger: Logger;
}

/**
 * Gives a claim back at once, so that an unused schema can be deleted without waiting for the catalog's sweep. Never
 * fails the call that it follows. From the moment that the lane has let go, a new instance claims anew, and waits for
 * its turn to do so.
 */
export const createReleaseEmptySchema =
  ({ db, lanes, catalog, claimMutex, logger }: ReleaseDependencies): ReleaseEmptySchema =>
  (deployment, schema, call) =>
    claimMutex
      .run(deployment.id, async () => {
        const letGo = await lanes.submit(letGoItem(db, deployment, schema, call));
        if (letGo === undefined) return;
        const schemaIds = [letGo.schemaId];
        await removeClaims(db, letGo.state, schemaIds);
        await catalog.release(deployment.address, { schemaIds });
      })
      .catch((error: unknown) => logger.info({ err: error }, 'a claim is left to the sweep'));

interface LetGo {
  readonly schemaId: number;
  readonly state: DeploymentState;
}

/** Answers the schema whose claim was let go of, if there are no instances of it, and in which state of the deployment. */
function letGoItem(
  db: Db,
  deployment: Pick<KnownDeployment, 'id'>,
  schema: string,
  { deadline, signal }: Pick<CallContext, 'deadline' | 'signal'>,
): WorkItem<LetGo | undefined> {
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
      if (claim === undefined || !seen?.isEmpty || state.instances.hasAny(schema)) return keeps;
      // What was read is only certain while nothing has been committed since.
      if (seen?.seq !== state.head.seq) return { kind: 'prepare' };
      state.claimedSchemas.delete(schema);
      return { kind: 'answer', answer: { schemaId: claim.schemaId, state } };
    },
  };
}

const keeps = { kind: 'answer', answer: undefined } as const;
