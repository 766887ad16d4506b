import { type PollLoop, startPollLoop } from '@orrery/service-kit';
import { acknowledgeEnded } from './acknowledge.js';
import { claimDue, claimRunning, nextDueAt } from './claim-due.js';
import { createDispatcher, type Dispatcher, type DispatcherDependencies } from './dispatcher.js';

export type FiringDependencies = Omit<DispatcherDependencies, 'onRoom'>;

export interface Firing {
  readonly dispatcher: Dispatcher;
  readonly loop: PollLoop;
  readonly acknowledging: PollLoop;
  stop(): Promise<void>;
}

/** Without anything due it is looked this often whether another process changed something, in milliseconds. */
const LOOK_MS = 15_000;
/** Schedules that one transaction decides. */
const DECIDED_AT_ONCE = 200;
/** Outcomes are acknowledged together, this often, in milliseconds. */
const ACKNOWLEDGE_MS = 30_000;

/**
 * Fires what is due. It sleeps until the next due time: nothing is looked through while nothing is due. A wake-up says that
 * something may be due earlier.
 */
export function startFiring(dependencies: FiringDependencies): Firing {
  const { db, clock, databaseNow, logger, signals } = dependencies;
  const dispatcher = createDispatcher({
    ...dependencies,
    onRoom: () => loop.wake(),
  });
  let alarm = new AbortController();
  const sleepUntil = (ms: number) => {
    alarm.abort();
    alarm = new AbortController();
    clock.sleep(ms, alarm.signal).then(
      () => loop.wake(),
      () => undefined,
    );
  };
  const runOnce = async () => {
    const limit = Math.min(DECIDED_AT_ONCE, dispatcher.room);
    // The dispatcher wakes this loop when it has room again.
    if (limit <= 0) return 'idle' as const;
    const now = await databaseNow();
    const again = await claimRunning(db, now, limit);
    dispatcher.take(again, now);
    const claimed = await claimDue(db, now, limit - again.length);
    dispatcher.take(claimed.occurrences, now);
    signals.decided(claimed.due);
    if (again.length + claimed.due >= limit) return 'more' as const;
    const next = await nextDueAt(db);
    const wait = next === undefined ? LOOK_MS : next - (await databaseNow());
    signals.behind(Math.max(0, -wait));
    // What is due and was not claimed is another process's at this moment.
    if (wait < LOOK_MS) sleepUntil(Math.max(wait, next !== undefined && wait <= 0 ? 50 : 0));
    return 'idle' as const;
  };
  const loop = startPollLoop({ name: 'firing', intervalMs: LOOK_MS, runOnce, clock, logger });
  const acknowledging = startPollLoop({
    name: 'acknowledging occurrences',
    intervalMs: ACKNOWLEDGE_MS,
    runOnce: async (signal) => ((await acknowledgeEnded(dependencies, signal)) ? 'more' : 'idle'),
    clock,
    logger,
  });
  return {
    dispatcher,
    loop,
    acknowledging,
    stop: async () => {
      alarm.abort();
      await loop.stop();
      await dispatcher.stop();
      await acknowledging.stop();
    },
  };
}
