import type { Bus } from '@orrery/bus';
import type { Database } from '@orrery/database';
import {
  type Clock,
  createKeyedMutex,
  createSemaphore,
  type Logger,
  type Resources,
} from '@orrery/service-kit';
import type { RuntimeConfig } from './config.js';
import type { Decider, ModelList } from './core/models/model.js';
import { createCatalogClient } from './lane/catalog/catalog-client.js';
import {
  createOutsideWork,
  type LeaseKeeper,
  partitionsFreed,
  startLeaseKeeper,
} from './lane/ownership/lease-keeper.js';
import { createRouter } from './lane/ownership/route-to-owner.js';
import { createAfterCommit, startPublication } from './lane/publication/publication.js';
import { createLanes, type Lanes } from './lane/queue/lanes.js';
import { createLostTails, createResidentStates } from './lane/queue/resident-states.js';
import { createReleaseEmptySchema } from './operations/claims/claims.js';
import { createBudgets } from './runs/models/budgets.js';
import { createPayments, networkParties, type PaymentParties } from './runs/payments/payments.js';
import { type RunKeeper, startRunKeeper } from './runs/steps/drive-run.js';
import { type CommitBatch, createCommit } from './store/commit/commit-statement.js';
import { createRecovery } from './store/commit/recovery.js';
import {
  createDeploymentAccess,
  createDeploymentDirectory,
} from './store/deployments/deployment-directory.js';
import { createLifetimes } from './store/journal/lifetimes.js';
import { createHeldPartitions, PARTITIONS } from './store/leases.js';
import { createUsedKeys } from './store/runs/once-store.js';
import { createIdBlocks, nextIdBlock } from './store/state/id-blocks.js';
import { createInstanceLoader, loadState } from './store/state/load-state.js';
import { boundReads, type Pools } from './store/tables/pools.js';
import type { RuntimeSchema } from './store/tables/schema.js';

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

/** What the handlers work with. Rooms do not import it: each declares the dependencies that it takes. */
export type RuntimeContext = ReturnType<typeof createRuntimeContext>['context'];

/** Commits in flight at once: while one is written, others are decided and answered (docs/adr/0010). */
const COMMITS_AT_ONCE = 3;
const VERIFICATIONS_AT_ONCE = 2;

/** Builds what the handlers work with, by hand and in one place. The leases' loop runs from here on. */
export function createRuntimeContext(parts: ContextParts, config: RuntimeConfig) {
  const { lanes: lanesPool } = parts.pools;
  const services = createServices(parts, config);
  const { lanes, held, outside, leases, runs, publication } = createOwnership(parts, config, services);
  const { bus, clock, logger, pools, decider, instance } = parts;
  const { db } = parts.database;
  const { catalog, claimMutex, commitSlots } = services;
  const directory = createDeploymentDirectory(lanesPool.db);
  const context = {
    ...services,
    ...{ db, pools, bus, clock, logger, decider, lanes, held, outside, runs, directory },
    limits: config.limits,
    aiDeadlineMs: config.aiDeadlineMs,
    messageWindow: config.messageWindow,
    /** Names of the chains that bindings may name. */
    chains: new Set(config.chains) as ReadonlySet<string>,
    access: createDeploymentAccess(lanesPool.db, directory),
    route: createRouter({ db: lanesPool.db, bus, instance, held, clock }),
    findUse: createUsedKeys(lanesPool.db, commitSlots.untilFree),
    releaseEmptySchema: createReleaseEmptySchema({ db, lanes, catalog, claimMutex, logger }),
    /** Bounds how many answers that read only are made at once. */
    reading: boundReads(),
    computeLifetimes: createLifetimes(db),
    verifying: createSemaphore(VERIFICATIONS_AT_ONCE),
    announceCreation: publication.created,
  };
  return { context, leases };
}

function createServices(parts: ContextParts, config: RuntimeConfig) {
  const { bus, clock, logger, pools, resources } = parts;
  const commitSlots = createSemaphore(COMMITS_AT_ONCE);
  const budgets = createBudgets({ db: parts.database.db, clock, logger });
  resources.add('costs of AI models', () => budgets.stop());
  const parties = parts.paymentParties ?? networkParties(config.payments, clock, logger);
  return {
    commitSlots,
    budgets,
    catalog: createCatalogClient({ bus, clock, beforeConfirm: commitSlots.untilFree }),
    models: { offered: config.models } satisfies ModelList as ModelList,
    /** Claims and releases run one at a time per deployment. */
    claimMutex: createKeyedMutex(),
    ids: createIdBlocks(() => nextIdBlock(pools.lanes.db)),
    payments: createPayments({ config: config.payments, parties, clock, logger }),
  };
}

/** The leases, the states of the deployments that they cover, and the lanes that change these states. */
function createOwnership(
  { database, pools, bus, clock, logger, instance, resources, aroundCommit, decider }: ContextParts,
  { limits, aiDeadlineMs, memory, leaseTtlMs, payments: { settleMs } }: RuntimeConfig,
  services: ReturnType<typeof createServices>,
) {
  const { catalog, models, claimMutex, ids, commitSlots } = services;
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
  const states = createResidentStates(readState, held, memory);
  const lanes: Lanes = createLanes({
    states,
    lostTails: createLostTails({ maxDeployments: memory.maxDeployments, onLost: ids.discard, logger }),
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
  const outside = createOutsideWork(clock, () => leases.wake());
  const runs: RunKeeper = startRunKeeper({
    ...services,
    ...{ db, lanes, limits, aiDeadlineMs, decider, outside, held, clock, logger },
  });
  const leases: LeaseKeeper = startLeaseKeeper({
    ...{ db: pools.leases.db, instance, ttlMs: leaseTtlMs, held, outside, clock, logger },
    drained: lanes.drained,
    moveWithinMs: () => Math.max(settleMs, ...models.offered.map(({ timeoutMs }) => timeoutMs)),
    announceFree: () => bus.broadcast(partitionsFreed, { by: instance }),
  });
  resources.add('recovery', () => stopping.abort());
  resources.add('runs under way', () => runs.stop());
  resources.add('partition leases', () => leases.stop());
  return { lanes, held, outside, leases, runs, publication };
}
