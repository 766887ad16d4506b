import { runtimeContract } from '@orrery/contracts';
import { followAccounts } from '@orrery/service-host';
import { holding, type PollLoop, type RunningService } from '@orrery/service-kit';
import { followModelFile, startBackgroundLoops, watchDirectoryElsewhere } from './background-loops.js';
import type { RuntimeConfig } from './config.js';
import { createRuntimeContext, type RuntimeDependencies } from './create-context.js';
import { runtimeHandlers } from './handlers.js';
import { type LeaseKeeper, partitionsFreed } from './lane/ownership/lease-keeper.js';
import { openDatabases } from './open-databases.js';
import type { RuntimeContext } from './operations/context.js';
import { applyPauses } from './operations/deployments/pauses.js';
import { followOtherHomes, tellOtherHomes } from './operations/deployments/places.js';
import { createModelDecider } from './runs/asking/model-decider.js';
import { accountPauses, storeAccounts } from './store/deployments/account-store.js';
import { finishUpgrade, followJournalForm } from './store/journal/journal-form.js';
import { endAllLeases } from './store/leases/leases.js';
import { followDatabaseTime } from './store/tables/database-time.js';

export interface RunningRuntime extends RunningService {
  readonly context: RuntimeContext;
  /** Names this process among the runtime's processes. */
  readonly instance: string;
  readonly leases: LeaseKeeper;
  /** Builds and drops the indexes of attributes. */
  readonly indexes: PollLoop;
}

/** Starts the runtime: its tables, its share of the deployments, then its answers. @throws StartupError. */
export function startRuntime(
  dependencies: RuntimeDependencies,
  config: RuntimeConfig,
): Promise<RunningRuntime> {
  const { bus, logger } = dependencies;
  const instance = dependencies.instance ?? `runtime-${crypto.randomUUID()}`;
  return holding(async (resources) => {
    const opened = await openDatabases(dependencies, config, instance, resources);
    const { database, directory, pools, deployments } = opened;
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
    const { context, leases } = createRuntimeContext(
      {
        ...dependencies,
        ...opened,
        directory: deployments,
        decider,
        journal,
        instance,
        resources,
        clock,
        measureTime,
      },
      config,
    );
    followModelFile(context, config, resources);
    const listening = new AbortController();
    resources.add('partition broadcasts', () => listening.abort());
    await bus.listen(partitionsFreed, ({ by }) => by !== instance && leases.wake(), listening.signal);
    await leases.runOnce();
    await bus.serve(runtimeContract, runtimeHandlers(context), { instance, ttlMs: config.leaseTtlMs });
    const accounts = await followAccounts({
      service: 'runtime',
      consumer: 'runtime-accounts',
      bus,
      clock,
      logger,
      store: (states) => storeAccounts(database.db, states),
      passOn: (state) => tellOtherHomes(context, state),
      onStored: (signal) => applyPauses(context, accountPauses(database.db), signal),
      signal: listening.signal,
    });
    resources.add('account reconciliation', () => accounts.stop());
    await followOtherHomes(context, listening.signal);
    if (config.directoryUrl !== undefined)
      watchDirectoryElsewhere(context, { directory, instance }, dependencies, resources);
    const { indexes } = startBackgroundLoops(context, resources);
    // Registered a second time, so that it is stopped first: until it has stopped, no process serves these deployments.
    resources.add('partition leases', () => leases.stop());
    return { context, instance, leases, indexes };
  }, dependencies);
}
