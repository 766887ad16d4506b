import type { ExecutionLimits } from '@orrery/deciding';
import type { Clock, Logger } from '@orrery/service-kit';
import type { Decider, ModelList } from '../../core/prompting/model.js';
import type { RandomnessKeys } from '../../core/randomness/secrets.js';
import type { CatalogClient } from '../../lane/catalog/catalog-client.js';
import type { Homes } from '../../lane/ownership/homes.js';
import type { OutsideWork } from '../../lane/ownership/outside-work.js';
import type { Lanes } from '../../lane/queue/lanes.js';
import type { HeldPartitions } from '../../store/leases/leases.js';
import type { Db } from '../../store/tables/schema.js';
import type { Beacons } from '../asking/beacons.js';
import type { Budgets } from '../models/budgets.js';
import type { Payments } from '../payments/payments.js';

/** What executions are decided, run and paid for with. */
export interface RunDependencies {
  readonly db: Db;
  readonly lanes: Lanes;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly catalog: CatalogClient;
  readonly models: ModelList;
  readonly budgets: Budgets;
  readonly payments: Payments;
  readonly homes: Pick<Homes, 'isOnly' | 'directory'>;
  readonly decider: Decider;
  readonly outside: OutsideWork;
  readonly held: HeldPartitions;
  readonly randomnessKeys: RandomnessKeys;
  readonly beacons: Beacons;
  readonly limits: ExecutionLimits & { readonly instancesPerDeployment: number };
  /** Time limit of a run whose caller waits, in milliseconds; it may be longer than the call's. */
  readonly aiDeadlineMs: number;
}
