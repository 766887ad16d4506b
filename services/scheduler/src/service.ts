import { dueEarlier, occurrencesEnded, schedulerContract } from '@orrery/contracts';
import { startKeySweep } from '@orrery/database';
import { openBackends, type ServiceDependencies } from '@orrery/service-host';
import { holding, type PollLoop, type RunningService, startPollLoop } from '@orrery/service-kit';
import type { SchedulerConfig } from './config.js';
import { schedulerSignals } from './firing/signals.js';
import { type Firing, startFiring } from './firing/start-firing.js';
import { followBindings } from './following/follow-bindings.js';
import { type Syncs, startSyncs } from './following/start-syncs.js';
import { schedulerHandlers } from './operations/handlers.js';
import { createPruning } from './store/ledger/prune-ledger.js';
import { lagAt } from './store/occurrences/claim-due.js';
import { askAtOnce } from './store/occurrences/outcome-store.js';
import { raiseOccurrenceIds } from './store/occurrences/raise-ids.js';
import { type DatabaseClock, databaseClock } from './store/tables/database-clock.js';
import { migrations } from './store/tables/migrations/index.js';
import type { Db, SchedulerSchema } from './store/tables/schema.js';

export interface SchedulerDependencies extends ServiceDependencies {
  /** By default the clock of the database. */
  readonly databaseNow?: DatabaseClock;
}

/** Exposes the database and the loops for tests. */
export interface RunningScheduler extends RunningService {
  readonly db: Db;
  readonly firing: Firing;
  readonly syncs: Syncs;
  readonly pruning: PollLoop;
}

/** Expired Idempotency-Keys are removed this often, in milliseconds. */
const KEY_SWEEP_MS = 60_000;
/** Old rows of ledgers are removed this often, in milliseconds. */
const PRUNING_MS = 60 * 60_000;
const DAY_MS = 24 * 60 * 60_000;

/** Starts the scheduler on its own schema of the database. @throws StartupError when the database cannot be used. */
export function startScheduler(
  dependencies: SchedulerDependencies,
  config: SchedulerConfig,
): Promise<RunningScheduler> {
  const { bus, clock, logger } = dependencies;
  return holding(async (resources) => {
    const backends = { ...dependencies, service: 'scheduler', schema: 'scheduler', migrations, resources };
    const { db } = await openBackends<SchedulerSchema>(backends);
    await raiseOccurrenceIds(db);
    const databaseNow = dependencies.databaseNow ?? databaseClock(db);
    const shared = { db, bus, clock, logger, databaseNow };
    const stopping = new AbortController();

    // A hint to all processes: who misses it looks again within seconds.
    const announceDue = () => {
      bus.broadcast(dueEarlier, {}).catch(() => undefined);
      firing.loop.wake();
    };
    const askFor = async (keys: readonly string[]) => {
      try {
        await askAtOnce(db, keys, await databaseNow());
        firing.loop.wake();
      } catch (error) {
        logger.info({ err: error }, 'occurrences that have ended were not noted; they are asked for later');
      }
    };
    const syncs = startSyncs({ ...shared, onSynced: announceDue });
    resources.add('schedule syncs', () => syncs.loop.stop());
    const signals = schedulerSignals(async () => lagAt(db, await databaseNow()));
    const firing = startFiring({ ...shared, ...config, syncs, signals });
    resources.add('firing', () => firing.stop());
    resources.add('consumers', () => stopping.abort());
    await bus.listen(dueEarlier, () => firing.loop.wake(), stopping.signal);
    await bus.listen(occurrencesEnded, ({ occurrences }) => void askFor(occurrences), stopping.signal);
    const following = await followBindings({ ...shared, ...config, syncs, signal: stopping.signal });
    resources.add('following', async () => void (await Promise.all(following.map((loop) => loop.stop()))));
    const sweep = startKeySweep(db, { clock, logger, intervalMs: KEY_SWEEP_MS });
    resources.add('idempotency key sweep', () => sweep.stop());
    const prune = createPruning(db);
    const pruning = startPollLoop({
      name: 'pruning of ledgers',
      intervalMs: PRUNING_MS,
      runOnce: async () =>
        (await prune((await databaseNow()) - config.ledgerDays * DAY_MS)) ? 'more' : 'idle',
      clock,
      logger,
    });
    resources.add('pruning of ledgers', () => pruning.stop());
    const { dispatcher } = firing;
    const handlers = schedulerHandlers({ ...shared, syncs, dispatcher, signals, announceDue });
    await bus.serve(schedulerContract, handlers);
    return { db, firing, syncs, pruning };
  }, dependencies);
}
