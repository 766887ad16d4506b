import type { Database } from '@orrery/database';
import type { ServiceDependencies } from '@orrery/service-host';
import {
  createKeyedMutex,
  createSemaphore,
  FairSlots,
  type KeyedMutex,
  type Resources,
  type Semaphore,
} from '@orrery/service-kit';
import type { RuntimeConfig } from './config.js';
import type { Decider } from './core/prompting/model.js';
import { createCatalogClient } from './lane/catalog/catalog-client.js';
import { createHomeSignals } from './lane/ownership/home-signals.js';
import type { Homes } from './lane/ownership/homes.js';
import {
  type LeaseKeeper,
  type LeaseKeeperOptions,
  partitionsFreed,
  startLeaseKeeper,
} from './lane/ownership/lease-keeper.js';
import { createOutsideWork } from './lane/ownership/outside-work.js';
import { createRouter } from './lane/ownership/route-to-owner.js';
import { createAfterCommit, startPublication } from './lane/publication/publication.js';
import { createLanes, type Lanes } from './lane/queue/lanes.js';
import { createLostTails, createResidentStates } from './lane/queue/resident-states.js';
import type { RuntimeContext } from './operations/context.js';
import { createBeacons } from './runs/asking/beacons.js';
import { createBudgets } from './runs/models/budgets.js';
import { createPayments, networkParties, type PaymentParties } from './runs/payments/payments.js';
import type { RunDependencies } from './runs/requests/run-dependencies.js';
import { type RunKeeper, startRunKeeper } from './runs/steps/drive-run.js';
import { startTimerKeeper, type TimerKeeper } from './runs/timers/timer-keeper.js';
import { type CommitBatch, createCommit } from './store/commit/commit-statement.js';
import { createRecovery } from './store/commit/recovery.js';
import {
  createDeploymentAccess,
  type DeploymentDirectory,
} from './store/deployments/deployment-directory.js';
import { createActivity } from './store/journal/activity.js';
import { findDefinition, keepDefinition } from './store/journal/definitions.js';
import type { JournalForm } from './store/journal/journal-form.js';
import { createLifetimes } from './store/journal/lifetimes.js';
import { createTrees } from './store/journal/merkle-trees.js';
import { createHeldPartitions } from './store/leases/leases.js';
import { createUsedKeys } from './store/runs/once-store.js';
import { ClaimedMessages } from './store/state/claimed-messages.js';
import { createCloneOrder } from './store/state/clone-order.js';
import { createIdBlocks, type IdBlocks, nextIdBlock } from './store/state/id-blocks.js';
import { createInstanceLoader, loadState, loadTimerKeys } from './store/state/load-state.js';
import { boundReads, type Pools } from './store/tables/pools.js';
import type { RuntimeSchema } from './store/tables/schema.js';

export interface RuntimeDependencies extends ServiceDependencies {
  /** Names this process among the runtime's processes; random by default. */
  readonly instance?: string;
  /** No other runtime can be running on this database, not even one that is stopped: all leases are taken at once. */
  readonly soleProcess?: boolean;
  /** Decides the executions of versions that have no template. Default: the AI model of the deployment. */
  readonly decider?: Decider;
  /** For tests: who verifies and settles payments. */
  readonly paymentParties?: PaymentParties;
  /** Wraps the commit, for tests that lose its answers. */
  readonly aroundCommit?: (commit: CommitBatch) => CommitBatch;
}

interface ContextParts extends RuntimeDependencies {
  readonly database: Database<RuntimeSchema>;
  readonly pools: Pools;
  readonly instance: string;
  readonly resources: Resources;
  readonly decider: Decider;
  readonly journal: JournalForm;
  readonly measureTime: () => Promise<void>;
  readonly home: Pick<LeaseKeeperOptions, 'homes' | 'explain'>;
  readonly homes: Homes;
  readonly directory: DeploymentDirectory;
}

/** Commits in flight at once: while one is written, others are decided and answered (docs/adr/0010). */
const COMMITS_AT_ONCE = 3;
const VERIFICATIONS_AT_ONCE = 2;

/** Builds what the handlers work with, by hand and in one place. The leases' loop runs from here on. */
export function createRuntimeContext(
  parts: ContextParts,
  config: RuntimeConfig,
): { readonly context: RuntimeContext; readonly leases: LeaseKeeper } {
  const { bus, clock, logger, pools, resources, instance, decider, database } = parts;
  const { db } = database;
  const { limits, aiDeadlineMs, messageWindow, payments, randomnessKeys } = config;
  const commitSlots = createSemaphore(COMMITS_AT_ONCE);
  const { homes, directory } = parts;
  const budgets = createBudgets({ db, homes, clock, logger });
  resources.add('costs of AI models', () => budgets.stop());
  const parties = parts.paymentParties ?? networkParties(payments, clock, logger);
  const services = {
    ...{ db, homes, clock, logger, decider, limits, aiDeadlineMs, budgets, randomnessKeys },
    catalog: createCatalogClient({
      ...{ bus, clock, beforeConfirm: commitSlots.untilFree },
      keep: (definition) => keepDefinition(db, definition),
      findKept: (worldId, hash) => findDefinition(db, worldId, hash),
    }),
    models: { offered: config.models },
    claimMutex: createKeyedMutex(),
    ids: createIdBlocks(() => nextIdBlock(pools.lanes.db)),
    beacons: createBeacons(config.beacon, { clock, logger }),
    payments: createPayments({ config: payments, parties, clock, logger }),
    commitSlots,
  };
  const { leases, publication, ...owned } = createOwnership(parts, config, services);
  const context: RuntimeContext = {
    ...services,
    ...owned,
    ...{ pools, bus, directory, messageWindow },
    journalForm: parts.journal,
    chains: new Set(config.chains),
    access: createDeploymentAccess(pools.lanes.db, directory, homes.isHere),
    route: createRouter({
      ...{ db: pools.lanes.db, bus, instance, held: owned.held, clock },
      isHere: homes.isHere,
    }),
    reading: boundReads(),
    computeLifetimes: createLifetimes(db),
    countActivity: createActivity(db, clock),
    growTree: createTrees(db),
    signingKeys: config.signingKeys,
    verifying: new FairSlots(VERIFICATIONS_AT_ONCE),
    announceCreation: publication.created,
  };
  return { context, leases };
}

interface Services extends Omit<RunDependencies, 'lanes' | 'outside' | 'held'> {
  readonly claimMutex: KeyedMutex;
  readonly ids: IdBlocks;
  readonly commitSlots: Semaphore;
}

/** The leases, the states of the deployments that they cover, and the lanes that change these states. */
function createOwnership(
  {
    database,
    pools,
    bus,
    journal,
    instance,
    resources,
    measureTime,
    home,
    homes,
    aroundCommit = (commit) => commit,
  }: ContextParts,
  { memory, leaseTtlMs, payments: { settleMs } }: RuntimeConfig,
  services: Services,
) {
  const { catalog, models, claimMutex, ids, commitSlots, clock, logger } = services;
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
      timers.wake();
      publication.wake();
    },
  });
  const publication = startPublication({ db: database.db, bus, leases: held.all, clock, logger });
  // Released after the leases: what is committed during the handover is still published here.
  resources.add('publication', () => publication.stop());
  const messages = new ClaimedMessages();
  const putOwnLast = createCloneOrder(db, stopping.signal);
  const readState = (id: number, epoch: number) =>
    loadState(db, id, epoch, { messages, now: clock.now(), ids, putOwnLast });
  const states = createResidentStates(readState, held, memory);
  const afterCommit = createAfterCommit({
    ...{ publication, held },
    wakeLeases: () => leases.wake(),
    timersChanged: (batch) => timers.committed(batch),
  });
  const lanes: Lanes = createLanes({
    states,
    lostTails: createLostTails({ maxDeployments: memory.maxDeployments, onLost: ids.discard, logger }),
    commitSlots,
    instances: createInstanceLoader(db),
    ids,
    journalForm: journal,
    loadTimerKeys: (state, keys) => loadTimerKeys(db, state, keys),
    claimSchemas: catalog.claimSchemas,
    claimMutex,
    commit: aroundCommit(createCommit(pools.commits, instance)),
    recover: createRecovery(pools.commits.db, instance, held, clock, stopping.signal),
    ...afterCommit,
    clock,
    logger,
  });
  const outside = createOutsideWork(clock, () => leases.wake());
  const runs: RunKeeper = startRunKeeper({ ...services, db, lanes, outside, held });
  const findUse = createUsedKeys(db, commitSlots.untilFree);
  const timers: TimerKeeper = startTimerKeeper({
    ...services,
    ...{ db, lanes, outside, held, runs, findUse, measureTime },
  });
  const homeSignals = createHomeSignals(homes);
  const leases: LeaseKeeper = startLeaseKeeper({
    ...{ db: pools.leases.db, instance, ttlMs: leaseTtlMs, held, outside, clock, logger },
    ...home,
    onBalance: homeSignals.onBalance,
    drained: lanes.drained,
    moveWithinMs: () => Math.max(settleMs, ...models.offered.map(({ timeoutMs }) => timeoutMs)),
    announceFree: () => bus.broadcast(partitionsFreed, { by: instance }),
  });
  resources.add('metrics of homes', () => homeSignals.stop());
  resources.add('recovery', () => stopping.abort());
  resources.add('runs under way', () => runs.stop());
  resources.add('due timers', () => timers.stop());
  resources.add('partition leases', () => leases.stop());
  return { lanes, held, outside, leases, runs, findUse, publication };
}
