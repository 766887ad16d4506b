import type { Bus } from '@orrery/bus';
import type { Database } from '@orrery/database';
import {
  type Clock,
  createKeyedMutex,
  createSemaphore,
  type KeyedMutex,
  type Logger,
  type Resources,
  type Semaphore,
} from '@orrery/service-kit';
import type { RuntimeConfig } from './config.js';
import type { Decider } from './core/models/decider.js';
import { type CatalogClient, createCatalogClient } from './lane/catalog/catalog-client.js';
import type { FindUse } from './lane/items/once-item.js';
import { type LeaseKeeper, partitionsFreed, startLeaseKeeper } from './lane/ownership/lease-keeper.js';
import { createOutsideWork } from './lane/ownership/outside-work.js';
import { createRouter, type RouteToOwner } from './lane/ownership/route-to-owner.js';
import { createAfterCommit, startPublication } from './lane/publication/publication.js';
import { createLanes, type Lanes } from './lane/queue/lanes.js';
import { createLostTails, createResidentStates } from './lane/queue/resident-states.js';
import { createReleaseEmptySchema, type ReleaseEmptySchema } from './operations/claims/claims.js';
import { type Budgets, createBudgets } from './runs/models/budgets.js';
import { createModelList, type LiveModelList } from './runs/models/model-list.js';
import {
  createPayments,
  networkParties,
  type PaymentParties,
  type Payments,
} from './runs/payments/payments.js';
import { type RunKeeper, startRunKeeper } from './runs/steps/run-keeper.js';
import { type CommitBatch, createCommit } from './store/commit/commit-statement.js';
import { createRecovery } from './store/commit/recovery.js';
import { boundReads, type Pools } from './store/database/pools.js';
import type { Db, RuntimeSchema } from './store/database/schema.js';
import {
  createDeploymentAccess,
  createDeploymentDirectory,
  type DeploymentAccess,
  type DeploymentDirectory,
  type RuntimeLimits,
} from './store/deployments/deployment-directory.js';
import { type ComputeLifetimes, createLifetimes } from './store/journal/lifetimes.js';
import { createHeldPartitions, PARTITIONS } from './store/leases/partitions.js';
import { createUsedKeys } from './store/runs/once-store.js';
import { createIdBlocks, type IdBlocks, nextIdBlock } from './store/state/id-blocks.js';
import { createInstanceLoader, loadState } from './store/state/load-state.js';

/** What the handlers work with. Rooms do not import it: each declares the dependencies that it takes. */
export interface RuntimeContext {
  readonly db: Db;
  readonly pools: Pools;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: RuntimeLimits;
  readonly aiDeadlineMs: number;
  /** Names of the chains that bindings may name. */
  readonly chains: ReadonlySet<string>;
  /** How far the time of a signed message may lie from now. */
  readonly messageWindow: RuntimeConfig['messageWindow'];
  readonly models: LiveModelList;
  readonly catalog: CatalogClient;
  readonly directory: DeploymentDirectory;
  readonly access: DeploymentAccess;
  readonly route: RouteToOwner;
  readonly lanes: Lanes;
  readonly findUse: FindUse;
  readonly ids: IdBlocks;
  /** Stored executions under way. */
  readonly runs: RunKeeper;
  /** Decides the executions of versions that have no template. */
  readonly decider: Decider;
  /** Payments for executions. */
  readonly payments: Payments;
  readonly budgets: Budgets;
  /** Claims and releases run one at a time per deployment. */
  readonly claimMutex: KeyedMutex;
  /** Releases the claim on a schema after the deployment's last instance of it was deleted. */
  readonly releaseEmptySchema: ReleaseEmptySchema;
  /** Bounds how many answers that read only are made at once. */
  readonly reading: Semaphore;
  readonly computeLifetimes: ComputeLifetimes;
  /** Bounds how many verifications run in this process. */
  readonly verifying: Semaphore;
  /** Publishes the first entry of a deployment that was committed. */
  readonly announceCreation: (deployment: string) => void;
}

export interface ContextParts {
  readonly database: Database<RuntimeSchema>;
  readonly pools: Pools;
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly instance: string;
  readonly resources: Resources;
  readonly decider: Decider;
  /** For tests: who verifies and settles payments. */
  readonly paymentParties?: PaymentParties | undefined;
  /** Wraps the commit, for tests that lose its answers. */
  readonly aroundCommit?: (commit: CommitBatch) => CommitBatch;
}

/** Commits in flight at once: while one is written, others are decided and answered (docs/adr/0010). */
const COMMITS_AT_ONCE = 3;

/** Verifications that run in one process at a time. */
const VERIFICATIONS = 2;

/** Builds what the handlers work with, by hand and in one place. The leases' loop runs from here on. */
export function createRuntimeContext(
  parts: ContextParts,
  config: RuntimeConfig,
): { context: RuntimeContext; leases: LeaseKeeper } {
  const { bus, clock, logger, pools } = parts;
  const { db } = parts.database;
  const { lanes: lanesPool } = pools;
  const commitSlots = createSemaphore(COMMITS_AT_ONCE);
  const catalog = createCatalogClient({ bus, clock, beforeConfirm: commitSlots.untilFree });
  const models = createModelList(config.models);
  const budgets = createBudgets({ db, clock, logger });
  parts.resources.add('costs of AI models', () => budgets.stop());
  const claimMutex = createKeyedMutex();
  const ids = createIdBlocks(() => nextIdBlock(lanesPool.db));
  const payments = createPayments({
    config: config.payments,
    parties: parts.paymentParties ?? networkParties(config.payments, clock, logger),
    clock,
    logger,
  });
  const { lanes, held, leases, runs, publication } = createOwnership(parts, config, {
    payments,
    catalog,
    models,
    budgets,
    claimMutex,
    ids,
    commitSlots,
  });
  const directory = createDeploymentDirectory(lanesPool.db);
  const context: RuntimeContext = {
    db,
    pools,
    bus,
    clock,
    logger,
    limits: config.limits,
    aiDeadlineMs: config.aiDeadlineMs,
    messageWindow: config.messageWindow,
    chains: new Set(config.chains),
    models,
    catalog,
    directory,
    access: createDeploymentAccess(lanesPool.db, directory),
    route: createRouter({ db: lanesPool.db, bus, instance: parts.instance, held, clock }),
    lanes,
    findUse: createUsedKeys(lanesPool.db, commitSlots.untilFree),
    ids,
    runs,
    decider: parts.decider,
    payments,
    budgets,
    claimMutex,
    releaseEmptySchema: createReleaseEmptySchema({ db, lanes, catalog, claimMutex, logger }),
    reading: boundReads(),
    computeLifetimes: createLifetimes(db),
    verifying: createSemaphore(VERIFICATIONS),
    announceCreation: publication.created,
  };
  return { context, leases };
}

/** The leases, the states of the deployments that they cover, and the lanes that change these states. */
function createOwnership(
  { database, pools, bus, clock, logger, instance, resources, aroundCommit, decider }: ContextParts,
  config: RuntimeConfig,
  {
    catalog,
    models,
    budgets,
    payments,
    claimMutex,
    ids,
    commitSlots,
  }: Pick<RuntimeContext, 'catalog' | 'models' | 'budgets' | 'payments' | 'claimMutex' | 'ids'> & {
    commitSlots: Semaphore;
  },
) {
  const { db } = pools.lanes;
  const stopping = new AbortController();
  const held = createHeldPartitions({
    // Under the next epoch its runs continue with the answers that they wait for.
    onEpochOver: (partition) => {
      states.forgetPartition(partition);
      lanes.renewed([partition]);
    },
    onGone: (partition) => {
      lanes.disowned([partition]);
      runs.abandon(partition);
    },
    onTaken: () => {
      ids.discard();
      runs.wake();
    },
  });
  const shards = () => {
    const own = held.all().map(({ partition }) => partition);
    return own.length === PARTITIONS ? ('all' as const) : own;
  };
  const publication = startPublication({ database, bus, shards, clock, logger });
  // Released after the leases: what is committed during the handover is still published here.
  resources.add('outbox relay', () => publication.stop());
  const commit = createCommit(pools.commits, instance);
  const readState = (id: number, epoch: number) => loadState(db, id, epoch, clock.now());
  const states = createResidentStates(readState, held, config.memory);
  const { maxDeployments } = config.memory;
  const lanes = createLanes({
    states,
    lostTails: createLostTails({ maxDeployments, onLost: ids.discard, logger }),
    commitSlots,
    instances: createInstanceLoader(db),
    ids,
    claimSchemas: catalog.claimSchemas,
    claimMutex,
    commit: aroundCommit === undefined ? commit : aroundCommit(commit),
    recover: createRecovery(pools.commits.db, instance, held, clock, stopping.signal),
    ...createAfterCommit({ publication, held, wakeLeases: () => leases.wake() }),
    clock,
    logger,
  });
  const { limits } = config;
  const { aiDeadlineMs } = config;
  const outside = createOutsideWork(clock, () => leases.wake());
  const steps = { db, lanes, catalog, models, limits, aiDeadlineMs, decider, budgets, payments, outside };
  const runs = startRunKeeper({ ...steps, held, clock, logger });
  const announceFree = () => bus.broadcast(partitionsFreed, { by: instance });
  const leases = startLeaseKeeper({
    db: pools.leases.db,
    instance,
    ttlMs: config.leaseTtlMs,
    held,
    drained: lanes.drained,
    outside,
    patienceMs: () => Math.max(models.longestCallMs(), config.payments.settleMs),
    announceFree,
    clock,
    logger,
  });
  resources.add('recovery', () => stopping.abort());
  resources.add('runs under way', () => runs.stop());
  resources.add('partition leases', () => leases.stop());
  return { lanes, held, leases, runs, publication };
}
