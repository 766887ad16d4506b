import { runtimeContract } from '@orrery/contracts';
import { type Database, startKeySweep } from '@orrery/database';
import { followAccounts, openBackends } from '@orrery/service-host';
import { type CheckResult, holding, type PollLoop, type RunningService } from '@orrery/service-kit';
import type { RuntimeConfig } from './config.js';
import { createRuntimeContext, type RuntimeDependencies } from './create-context.js';
import { runtimeHandlers } from './handlers.js';
import { startIndexKeeper } from './lane/indexes/index-keeper.js';
import { disagreement, enterHome, refuseForeignDatabase } from './lane/ownership/enter-home.js';
import { followHomes } from './lane/ownership/homes.js';
import { type LeaseKeeper, partitionsFreed } from './lane/ownership/lease-keeper.js';
import { startRaisingGenerations } from './lane/ownership/raise-generations.js';
import type { RuntimeContext } from './operations/context.js';
import { applyPauses, startFollowingOperator } from './operations/deployments/pauses.js';
import { followOtherHomes, startComparingPlaces, storeInAll } from './operations/deployments/places.js';
import { startWhatIfSweep } from './operations/deployments/what-if-forks.js';
import { startGrowingTrees } from './operations/history/growing-merkle-trees.js';
import { createModelDecider } from './runs/asking/model-decider.js';
import { startFollowingModelFile } from './runs/models/model-file.js';
import { startReconciliation } from './runs/payments/reconcile.js';
import { accountPauses } from './store/deployments/account-store.js';
import { createDeploymentDirectory } from './store/deployments/deployment-directory.js';
import { finishUpgrade, followJournalForm } from './store/journal/journal-form.js';
import { type Disagreement, databaseId } from './store/leases/homes.js';
import { endAllLeases } from './store/leases/leases.js';
import { openDirectory } from './store/leases/open-directory.js';
import { raiseIds, spreadIdBlocks } from './store/leases/spread-ids.js';
import { copyAccountWide } from './store/runs/account-wide.js';
import { startOnceKeySweep } from './store/runs/once-store.js';
import { startRunSweep } from './store/runs/run-store.js';
import { followDatabaseTime } from './store/tables/database-time.js';
import { migrations } from './store/tables/migrations/index.js';
import { openPools } from './store/tables/pools.js';
import type { RuntimeSchema } from './store/tables/schema.js';

export interface RunningRuntime extends RunningService {
  readonly context: RuntimeContext;
  /** Names this process among the runtime's processes. */
  readonly instance: string;
  readonly leases: LeaseKeeper;
  /** Builds and drops the indexes of attributes. */
  readonly indexes: PollLoop;
}

const KEY_SWEEP_MS = 60_000;

const RUN_SWEEP_MS = 5000;

/** Starts the runtime: its tables, its share of the deployments, then its answers. @throws StartupError. */
export function startRuntime(
  dependencies: RuntimeDependencies,
  config: RuntimeConfig,
): Promise<RunningRuntime> {
  const { bus, logger } = dependencies;
  const instance = dependencies.instance ?? `runtime-${crypto.randomUUID()}`;
  return holding(async (resources) => {
    const at = { databaseUrl: dependencies.databaseUrl, directoryUrl: config.directoryUrl };
    const named = { ...at, applicationName: 'orrery-runtime', logger, clock: dependencies.clock };
    const directory = resources.use('directory', await openDirectory(named));
    const database = await openBackends<RuntimeSchema>({
      ...{ ...dependencies, service: 'runtime', schema: 'runtime', migrations, resources },
      beforeMigration: ({ db }) => refuseForeignDatabase(db, directory.db, at),
    });
    const view = await enterHome(database.db, directory.db, at);
    const home = { ...view, explain: (differing: readonly Disagreement[]) => disagreement(differing, at) };
    const pools = openPools(database, config, resources);
    const hearing = new AbortController();
    resources.add('broadcasts of homes', () => hearing.abort());
    const deployments = createDeploymentDirectory(pools.lanes.db);
    const id = await databaseId(database.db);
    const homes = await followHomes({
      ...{ instance, deployments, bus, logger, clock: dependencies.clock, signal: hearing.signal },
      ...{ id, directory: directory.db },
      onSeveral: async () => {
        await raiseIds(database.db, directory.db);
        await spreadIdBlocks(database.db, directory.db, id);
        await copyAccountWide(database.db, directory.db);
      },
    });
    resources.add('homes of partitions', () => homes.stop());
    // Released after the leases, so that calls meanwhile are forwarded to the new owners, and before the pools.
    resources.add('answers', () => bus.close());
    if (dependencies.soleProcess === true) {
      await endAllLeases(database.db);
      await finishUpgrade(database.db);
    }
    const time = await followDatabaseTime(pools.leases.db, dependencies.clock, logger);
    const { clock, measure: measureTime } = resources.use('time of the database', time);
    const journal = resources.use('form of the journal', await followJournalForm(database.db, clock, logger));
    const calls = { clock, logger, callsPerDeployment: config.modelCallsPerDeployment };
    const decider = dependencies.decider ?? createModelDecider(calls);
    const around = { decider, journal, database, pools, instance, resources, home };
    const places = { homes, directory: deployments };
    const parts = { ...dependencies, ...around, ...places, clock, measureTime };
    const { context, leases } = createRuntimeContext(parts, config);
    if (config.modelFile !== undefined) {
      const host = process.stdout.isTTY ? undefined : process;
      const list = startFollowingModelFile({ ...context, file: config.modelFile, host });
      resources.add('AI models file', () => list.stop());
    }
    const listening = new AbortController();
    resources.add('partition broadcasts', () => listening.abort());
    await bus.listen(partitionsFreed, ({ by }) => by !== instance && leases.wake(), listening.signal);
    await leases.runOnce();
    await bus.serve(runtimeContract, runtimeHandlers(context), { instance, ttlMs: config.leaseTtlMs });
    const { db } = database;
    const accounts = await followAccounts({
      service: 'runtime',
      consumer: 'runtime-accounts',
      bus,
      clock,
      logger,
      store: (state) => storeInAll(context, state),
      onStored: (signal) => applyPauses(context, accountPauses(db), signal),
      signal: listening.signal,
    });
    await followOtherHomes(context, listening.signal);
    const indexes = startIndexKeeper(context);
    const loops = {
      'account reconciliation': accounts,
      'operator pauses': startFollowingOperator(context),
      'idempotency key sweep': startKeySweep(db, { clock, logger, intervalMs: KEY_SWEEP_MS }),
      'once-key sweep': startOnceKeySweep(db, { clock, logger, intervalMs: KEY_SWEEP_MS }),
      'ended runs sweep': startRunSweep(db, { clock, logger, intervalMs: RUN_SWEEP_MS }),
      'payment reconciliation': startReconciliation(context),
      'places of deployments': startComparingPlaces(context),
      'what-if sweep': startWhatIfSweep(context),
      'indexes of attributes': indexes,
      'Merkle trees': startGrowingTrees(context),
    };
    if (config.directoryUrl !== undefined) {
      const elsewhere = { db, directory: directory.db, instance, clock, logger };
      const raising = startRaisingGenerations(elsewhere);
      resources.add('generations of partitions', () => raising.stop());
      resources.add(
        'directory check',
        dependencies.health.register('runtime directory', () => checkDirectory(directory)),
      );
    }
    for (const [name, loop] of Object.entries(loops)) resources.add(name, () => loop.stop());
    // Registered a second time, so that it is stopped first: until it has stopped, no process serves these deployments.
    resources.add('partition leases', () => leases.stop());
    return { context, instance, leases, indexes };
  }, dependencies);
}

/** Without it leases that are held are renewed, and no others are taken. */
async function checkDirectory({ ping }: Pick<Database<unknown>, 'ping'>): Promise<CheckResult> {
  const { takesWrites } = await ping().catch(() => ({ takesWrites: false }));
  return takesWrites ? { status: 'ok' } : { status: 'degraded', detail: 'deployments get no other owner' };
}
