import { runtimeContract } from '@orrery/contracts';
import { type PollLoop, startPollLoop } from '@orrery/service-kit';
import { keyOf } from '../core/occurrences/occurrence.js';
import type { SchedulerContext } from '../following/context.js';
import { type ClaimedDue, claimDue, claimRunning, nextDueAt } from '../store/occurrences/claim-due.js';
import { endedUntil, noteAcknowledged } from '../store/occurrences/outcome-store.js';
import { Dispatcher, type DispatcherDependencies } from './dispatcher.js';
import { asSchedule } from './fire-occurrence.js';

export type FiringDependencies = Omit<DispatcherDependencies, 'onRoom' | 'onAgainIn'>;

export interface Firing {
  readonly dispatcher: Dispatcher;
  readonly loop: PollLoop;
  readonly acknowledging: PollLoop;
  stop(): Promise<void>;
}

/** Without anything due it is looked this often whether another process changed something, in milliseconds. */
const LOOK_MS = 15_000;
/** Schedules that one transaction decides, and the first one after a rest, so that the first ones are soon on their way. */
const DECIDED_AT_ONCE = 500;
const DECIDED_FIRST = 100;
/** Outcomes are acknowledged together, this often, in milliseconds. */
const ACKNOWLEDGE_MS = 30_000;

const NOTHING: ClaimedDue = { due: 0, occurrences: [], isMore: false };
/** Whether there may be more than was asked for. */
const isAll = (found: number, limit: number): boolean => limit > 0 && found >= limit;

/**
 * Fires what is due. It sleeps until the next due time: nothing is looked through while nothing is due. A wake-up says that
 * something may be due earlier.
 */
export function startFiring(dependencies: FiringDependencies): Firing {
  const { db, clock, databaseNow, logger, signals } = dependencies;
  const dispatcher = new Dispatcher({
    ...dependencies,
    onRoom: () => loop.wake(),
    onAgainIn: (ms) => wakeIn(ms),
  });
  let alarm = new AbortController();
  let isStopped = false;
  /** The last claim took all that it asked for, or had no time for it. */
  let isBehind = false;
  let alarmAt = Number.POSITIVE_INFINITY;
  /** An earlier alarm stays: it looks for itself what is next. */
  const wakeIn = (ms: number) => {
    const at = clock.monotonic() + ms;
    if (at >= alarmAt || isStopped) return;
    alarm.abort();
    alarm = new AbortController();
    alarmAt = at;
    const wake = () => {
      alarmAt = Number.POSITIVE_INFINITY;
      loop.wake();
    };
    clock.sleep(ms, alarm.signal).then(wake, () => undefined);
  };
  const runOnce = async () => {
    // The dispatcher wakes this loop when it has room again.
    const limits = {
      again: dispatcher.room('again'),
      fresh: Math.min(isBehind ? DECIDED_AT_ONCE : DECIDED_FIRST, dispatcher.room('fresh')),
    };
    if (limits.again + limits.fresh === 0 || (isBehind && limits.fresh === 0)) return 'idle' as const;
    const now = await databaseNow();
    const again = limits.again === 0 ? [] : await claimRunning(db, now, limits.again);
    dispatcher.take('again', again, now);
    const claimed = limits.fresh === 0 ? NOTHING : await claimDue(db, now, limits.fresh);
    dispatcher.take('fresh', claimed.occurrences, now);
    signals.decided(claimed.due);
    isBehind = claimed.isMore || isAll(claimed.due, limits.fresh);
    if (isAll(again.length, limits.again) || isBehind) return 'more' as const;
    const next = await nextDueAt(db, { again: limits.again > 0, fresh: limits.fresh > 0 });
    const wait = next === undefined ? LOOK_MS : next - (await databaseNow());
    // What is due and was not claimed is another process's at this moment.
    if (wait < LOOK_MS) wakeIn(Math.max(wait, next !== undefined && wait <= 0 ? 50 : 0));
    return 'idle' as const;
  };
  const loop = startPollLoop({ name: 'firing', intervalMs: LOOK_MS, runOnce, clock, logger });
  const acknowledging = startPollLoop({
    name: 'acknowledging occurrences',
    intervalMs: ACKNOWLEDGE_MS,
    // The runtime may be starting beside this process.
    startsIdle: true,
    runOnce: async (signal) => ((await acknowledgeEnded(dependencies, signal)) ? 'more' : 'idle'),
    clock,
    logger,
  });
  return {
    dispatcher,
    loop,
    acknowledging,
    stop: async () => {
      isStopped = true;
      alarm.abort();
      await loop.stop();
      await dispatcher.stop();
      await acknowledging.stop();
    },
  };
}

/** Occurrences of one call; each has a key for each of its attempts. */
const OCCURRENCES = 300;

/**
 * The runtime keeps the keys of an occurrence this long after its end, in milliseconds. Until then an attempt that was
 * sent late, by a process that had stopped or through a connection that was down, gets its outcome. Later it is refused.
 */
const KEPT_MS = 10 * 60_000;

/**
 * Tells the runtime of occurrences whose outcomes are stored, so that it forgets their keys. It then refuses whatever came
 * before them, so the runs of a schedule are told of in their order. Resolves with whether there may be more.
 */
async function acknowledgeEnded(
  { db, bus, clock, databaseNow }: SchedulerContext,
  signal: AbortSignal,
): Promise<boolean> {
  const ended = await endedUntil(db, (await databaseNow()) - KEPT_MS, OCCURRENCES);
  const [first] = ended;
  if (first === undefined) return false;
  const keys = ended.flatMap((one) =>
    Array.from({ length: one.attempt }, (_, index) => keyOf(one, index + 1)),
  );
  const rpc = runtimeContract.rpcs['executions.acknowledge'];
  await bus.call(rpc, { occurrences: keys }, asSchedule(first.event, clock, signal));
  await noteAcknowledged(
    db,
    ended.map(({ id }) => id),
  );
  return ended.length === OCCURRENCES;
}
