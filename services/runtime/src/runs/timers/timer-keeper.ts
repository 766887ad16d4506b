import { asServiceError } from '@orrery/contracts';
import { uuidV7 } from '@orrery/deciding';
import { type Backoff, backoffDelay, createMeter, FairSlots, startPollLoop } from '@orrery/service-kit';
import type { Batch } from '../../store/commit/batch.js';
import { NotOwner, partitionOf } from '../../store/leases/leases.js';
import { dueTimers, mayBeMore, nextDue, putOff, type TimerRow } from '../../store/state/timer-store.js';
import type { ExecuteDependencies } from '../execute/execute.js';
import { isPassing, type TimerOutcome, timerItem } from './timer-item.js';

/**
 * Executes the timers of the deployments that this process owns, once they are due by the clock of the database:
 *
 *   pending ─ due, the next round of the owner finds it ─→ in the lane ─ its execution is committed ─→ executed
 *                  ↑──── paused, or a failure that passes ────┤              │
 *                  ↑──── the owner is lost ───────────────────┘              └─ a model decides ─→ with a run ─→ executed
 *
 * What is next is one row a deployment (`timer_heads`). A round reads the first few of each partition, and the time of the
 * next round follows from them, from what is committed meanwhile, and from nothing else; `INTERVAL_MS` is for a clock of the
 * database that is set forward. A new owner's first round finds what the one before it has left.
 */
export type TimerKeeper = ReturnType<typeof startTimerKeeper>;

const INTERVAL_MS = 5000;
/**
 * Follow-ups without delay in the lanes at once, of all deployments, and as many other timers; those that wait for a run are
 * not counted. Callers of other deployments wait behind these at most.
 */
const AT_ONCE = 80;
/** Deployments whose timers are executed at once, beside those of which all that is due waits for runs. */
const DEPLOYMENTS_AT_ONCE = 32;
const MOST_STALLED = 64;
/** How long the timers of a deployment wait for one that waits for a run, in milliseconds. */
const PATIENCE_MS = 1000;
/** Timers of one deployment that may wait for runs: beyond these others wait as well. */
const MOST_WAITING = 200;
/** A timer that waits in its lane is given back after this long, in milliseconds. */
const TIMEOUT_MS = 60_000;
const REST: Backoff = { baseMs: 200, maxMs: 5000 };

interface TimerDependencies extends ExecuteDependencies {
  /** Compares the clock with that of the database once more. */
  readonly measureTime: () => Promise<void>;
}

export function startTimerKeeper(dependencies: TimerDependencies) {
  const { db, held, clock, logger, measureTime } = dependencies;
  const stopping = new AbortController();
  // Apart: what is due stays in its lane behind a follow-up of its deployment, which must not wait for a slot of these.
  const followUpSlots = new FairSlots(AT_ONCE);
  const dueSlots = new FairSlots(AT_ONCE);
  /** Timers in the lane, by their ids. */
  const inLane = new Map<string, { readonly deploymentId: number; readonly outcome: Promise<Outcome> }>();
  /** Deployments whose due timers are being executed. */
  const busy = new Map<number, Promise<void>>();
  /** Those of them of which all that is due waits for runs. */
  const stalled = new Set<number>();
  /** Deployments that rest after a failure, with how many they had. */
  const resting = new Map<number, number>();
  const failures = new Map<number, number>();
  const execute = createExecuteTimer(dependencies, stopping.signal);

  const wakeIn = createWakeUp(clock, stopping.signal, () => loop.wake());
  const runInSlot = async (row: TimerRow): Promise<Outcome> => {
    const slots = row.tree === null ? dueSlots : followUpSlots;
    const who = String(row.deployment_id);
    try {
      const { executed } = await slots.run(who, stopping.signal, async () => {
        const waiting = Promise.withResolvers<void>();
        const executed = execute(row, waiting.resolve);
        await Promise.race([executed, waiting.promise]);
        return { executed };
      });
      return await executed;
    } catch {
      return 'lost';
    }
  };
  const run = (row: TimerRow): Promise<Outcome> => {
    const outcome = runInSlot(row).finally(() => inLane.delete(row.id));
    inLane.set(row.id, { deploymentId: row.deployment_id, outcome });
    return outcome;
  };
  const inLaneOf = (deploymentId: number) =>
    [...inLane].filter(([, one]) => one.deploymentId === deploymentId);
  const executeDue = async (deploymentId: number): Promise<Outcome> => {
    for (;;) {
      // Also those that a commit has set: while they are pending, the deployment is due, and each round would find it.
      const before = inLaneOf(deploymentId);
      const isFull = before.length >= MOST_WAITING;
      const except = before.map(([id]) => id);
      const due = isFull ? [] : await dueTimers(db, deploymentId, except);
      const waiting = inLaneOf(deploymentId).map(([, { outcome }]) => outcome);
      if (due.length === 0 && waiting.length === 0) return 'executed';
      // The clock of the database was set forward: their entries are to have a time at which they were due.
      if (due.some(({ due_at }) => Date.parse(due_at) > clock.now())) await measureTime();
      const outcomes = due.filter(({ id }) => !inLane.has(id)).map(run);
      const isStalled = due.length === 0;
      noteStalled(deploymentId, isStalled);
      await settledSoon(isStalled ? waiting : outcomes);
      const stopped = await firstStopped(outcomes);
      if (stopped !== undefined) return stopped;
    }
  };
  const noteStalled = (deploymentId: number, isStalled: boolean) => {
    if (!isStalled) stalled.delete(deploymentId);
    else if (!stalled.has(deploymentId)) {
      stalled.add(deploymentId);
      loop.wake();
    }
  };
  /** Waits for them, but not long for one that waits for a run. When the keeper stops, they end by themselves. */
  const settledSoon = async (outcomes: readonly Promise<Outcome>[]) => {
    const done = new AbortController();
    await Promise.race([Promise.all(outcomes), clock.sleep(PATIENCE_MS, done.signal).catch(() => undefined)]);
    done.abort();
  };
  const rest = (deploymentId: number) => {
    const count = (failures.get(deploymentId) ?? 0) + 1;
    failures.set(deploymentId, count);
    resting.set(deploymentId, count);
    const awake = () => {
      resting.delete(deploymentId);
      loop.wake();
    };
    clock.sleep(backoffDelay(count, REST), stopping.signal).then(awake, () => undefined);
  };
  const take = (deploymentId: number) => {
    const work = executeDue(deploymentId)
      .catch((error: unknown) => {
        if (!stopping.signal.aborted)
          logger.warn({ err: error, deploymentId }, 'due timers could not be read');
        return 'passing' as const;
      })
      .then((outcome) => {
        busy.delete(deploymentId);
        stalled.delete(deploymentId);
        if (outcome === 'passing') rest(deploymentId);
        else failures.delete(deploymentId);
        loop.wake();
      });
    busy.set(deploymentId, work);
  };
  const runOnce = async () => {
    const partitions = held
      .all()
      .flatMap(({ partition }) => (held.epochOf(partition) === undefined ? [] : partition));
    const room = DEPLOYMENTS_AT_ONCE + Math.min(stalled.size, MOST_STALLED) - busy.size;
    if (partitions.length === 0 || room <= 0) return 'idle' as const;
    const found = await nextDue(db, partitions, [...busy.keys(), ...resting.keys()]);
    const due = found.filter(({ inMs }) => inMs <= 0);
    await putOff(
      db,
      due.flatMap(({ deploymentId, isStopped }) => (isStopped ? deploymentId : [])),
    );
    const ready = due.filter(({ isStopped }) => !isStopped);
    for (const { deploymentId } of ready.slice(0, room)) take(deploymentId);
    const next = found.find(({ inMs, isStopped }) => inMs > 0 && !isStopped);
    if (next !== undefined) wakeIn(next.inMs);
    return mayBeMore(found) && ready.length < room ? ('more' as const) : ('idle' as const);
  };
  const loop = startPollLoop({ name: 'due timers', intervalMs: INTERVAL_MS, runOnce, clock, logger });

  return {
    /** What a commit has set: follow-ups without delay are queued at once, the next round is not later than others are due. */
    committed: ({ timers }: Pick<Batch, 'timers'>): void => {
      for (const { set } of timers.values()) {
        if (set.size === 0) loop.wake();
        for (const row of set.values()) {
          if (row.tree !== null && !inLane.has(row.id))
            void run(row).then((outcome) => outcome === 'passing' && loop.wake());
          else if (row.tree === null) wakeIn(Date.parse(row.due_at) - clock.now());
        }
      }
    },
    wake: loop.wake,
    runOnce: loop.runOnce,
    stop: async () => {
      stopping.abort();
      await loop.stop();
      await Promise.allSettled(busy.values());
    },
  };
}

type Outcome = TimerOutcome | 'passing' | 'lost';

/** What keeps the other timers of the deployment from being executed now, of those that are settled. */
async function firstStopped(outcomes: readonly Promise<Outcome>[]): Promise<Outcome | undefined> {
  const pending = Symbol('pending');
  const settled = await Promise.all(outcomes.map((outcome) => Promise.race([outcome, pending])));
  return settled.find(
    (outcome): outcome is Outcome => outcome === 'paused' || outcome === 'passing' || outcome === 'lost',
  );
}

/** Executes one timer in its lane, and has its run driven if it becomes one. Never rejects. `onWait`: it waits for a run. */
function createExecuteTimer(dependencies: ExecuteDependencies, signal: AbortSignal) {
  const { lanes, runs, clock, logger } = dependencies;
  const late = createMeter('runtime').createHistogram('orrery_runtime_timer_lateness', {
    unit: 'ms',
    description: 'Time from when a timer was due until it was executed',
  });
  return async (row: TimerRow, onWait: () => void): Promise<Outcome> => {
    const runId = uuidV7(clock.now());
    const call = { caller: row.caller, requestId: row.id, deadline: clock.monotonic() + TIMEOUT_MS, signal };
    try {
      const outcome = await lanes.submit({ ...timerItem(dependencies, row, runId, call), onWait });
      if (outcome === 'run') runs.drive(runId, row.deployment_id).catch(() => undefined);
      if (outcome === 'executed') late.record(Math.max(0, clock.now() - Date.parse(row.due_at)));
      return outcome;
    } catch (error) {
      if (error instanceof NotOwner || signal.aborted) return 'lost';
      const reason = asServiceError(error);
      if (reason.code === 'deployment_not_found') return 'gone';
      if (!isPassing(reason))
        logger.error(
          { err: error, timer: row.id, partition: partitionOf(row.deployment_id) },
          'a timer could not be executed',
        );
      return 'passing';
    }
  };
}

/** One wake-up at a time: the earliest that was asked for. */
function createWakeUp(clock: ExecuteDependencies['clock'], signal: AbortSignal, wake: () => void) {
  let planned = Number.POSITIVE_INFINITY;
  let current = new AbortController();
  return (inMs: number): void => {
    const at = clock.monotonic() + Math.max(0, inMs);
    if (at >= planned) return;
    current.abort();
    current = new AbortController();
    planned = at;
    const awake = () => {
      planned = Number.POSITIVE_INFINITY;
      wake();
    };
    clock
      .sleep(Math.ceil(Math.max(0, inMs)), AbortSignal.any([signal, current.signal]))
      .then(awake, () => undefined);
  };
}
