import type { Bus } from '@orrery/bus';
import type { FairSlots, KeyedMutex, Semaphore } from '@orrery/service-kit';
import type { SigningKey } from '../core/merkle/checkpoint.js';
import type { Homes } from '../lane/ownership/homes.js';
import type { RouteToOwner } from '../lane/ownership/route-to-owner.js';
import type { ExecuteDependencies } from '../runs/execute/execute.js';
import type {
  DeploymentAccess,
  DeploymentDirectory,
  RuntimeLimits,
} from '../store/deployments/deployment-directory.js';
import type { CountActivity } from '../store/journal/activity.js';
import type { JournalForm } from '../store/journal/journal-form.js';
import type { ComputeLifetimes } from '../store/journal/lifetimes.js';
import type { GrowTree } from '../store/journal/merkle-trees.js';
import type { IdBlocks } from '../store/state/id-blocks.js';
import type { Pools } from '../store/tables/pools.js';

/** What the operations work with. `db` and `access` are those of reads or of writes, whatever the operation is. */
export interface RuntimeContext extends ExecuteDependencies {
  readonly pools: Pools;
  readonly bus: Bus;
  readonly directory: DeploymentDirectory;
  readonly access: DeploymentAccess;
  readonly homes: Homes;
  readonly route: RouteToOwner;
  readonly ids: IdBlocks;
  readonly limits: RuntimeLimits;
  readonly journalForm: JournalForm;
  /** Names of the chains that bindings may name. */
  readonly chains: ReadonlySet<string>;
  /** How far the time of a signed message may lie from now, in milliseconds. */
  readonly messageWindow: { readonly maxAgeMs: number; readonly maxAheadMs: number };
  /** Claims and releases of one deployment run one at a time, so that no release removes what is being claimed. */
  readonly claimMutex: KeyedMutex;
  /** Bounds how many answers that read only are made at once. */
  readonly reading: Semaphore;
  /** Bounds how many verifications run in this process; those who ask get their turns. */
  readonly verifying: FairSlots;
  readonly computeLifetimes: ComputeLifetimes;
  readonly countActivity: CountActivity;
  readonly growTree: GrowTree;
  /** What checkpoints are signed with; none: there are no checkpoints. */
  readonly signingKeys: readonly SigningKey[];
  /** Publishes the first entry of a deployment that was committed. */
  readonly announceCreation: (deployment: string) => void;
}
