import type { Bus } from '@orrery/bus';
import type { Clock, KeyedMutex, Logger, Semaphore } from '@orrery/service-kit';
import type { CatalogClient } from './catalog/catalog-client.js';
import type { ReleaseEmptySchema } from './claims/release-empty-schema.js';
import type { RuntimeLimits } from './config.js';
import type { Db } from './database/db.js';
import type { DeploymentAccess, DeploymentDirectory } from './deployments/deployment-directory.js';
import type { Decider } from './executions/decider.js';
import type { RunKeeper } from './executions/run-keeper.js';
import type { IdBlocks } from './ids/id-blocks.js';
import type { Lanes } from './lanes/lanes.js';
import type { ModelList } from './models/model-list.js';
import type { RouteToOwner } from './ownership/route-to-owner.js';

/** What the handlers work with; made by hand in `service.ts`. */
export interface RuntimeContext {
  readonly db: Db;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: RuntimeLimits;
  /** Names of the chains that bindings may name. */
  readonly chains: ReadonlySet<string>;
  readonly models: ModelList;
  readonly catalog: CatalogClient;
  readonly directory: DeploymentDirectory;
  readonly access: DeploymentAccess;
  readonly route: RouteToOwner;
  readonly lanes: Lanes;
  readonly ids: IdBlocks;
  /** Stored executions under way. */
  readonly runs: RunKeeper;
  /** Decides the executions of versions that have no template. */
  readonly decider: Decider | undefined;
  /** What claims from the catalog or gives back, one at a time per deployment. */
  readonly claimMutex: KeyedMutex;
  /** After instances were deleted: gives a schema back that the deployment has no instances of any more. */
  readonly releaseEmptySchema: ReleaseEmptySchema;
  /** Bounds how many verifications run in this process. */
  readonly verifying: Semaphore;
  /** There is something in the outbox. */
  readonly wakeRelay: () => void;
}
