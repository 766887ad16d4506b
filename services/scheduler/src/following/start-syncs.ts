import { setMaxListeners } from 'node:events';
import { ServiceError } from '@orrery/contracts';
import { orAborted, type PollLoop, startPollLoop } from '@orrery/service-kit';
import {
  claimSyncs,
  nextSyncAt,
  outcomeOfWant,
  postponeSync,
  type SyncClaim,
  wantSync,
} from '../store/syncs/sync-queue.js';
import type { SchedulerContext } from './context.js';
import { syncDeployment } from './sync-deployment.js';

export interface SyncsDependencies extends SchedulerContext {
  /** Schedules may be due at other times now. */
  readonly onSynced: () => void;
}

/** Brings deployments up to date that may have changed. */
export interface Syncs {
  /** Notes that deployments may have changed, and syncs them at once. */
  want(deployments: readonly string[]): Promise<void>;
  /**
   * Resolves when a sync that began after the call has ended, here or elsewhere. A caller that waits no longer does not
   * end it: others may wait for it. @throws `unavailable` when it failed, the signal's reason
   */
  now(deployment: string, signal: AbortSignal): Promise<void>;
  readonly loop: PollLoop;
}

/** Syncs that one process runs at once. */
const AT_ONCE = 16;
/** How often the queue is read when nothing wakes it, in milliseconds: another process may have gone. */
const LOOK_MS = 15_000;
/** How often it is looked whether another process has ended a sync, in milliseconds. Those of this one are awaited. */
const WAIT_MS = 50;

export function startSyncs(dependencies: SyncsDependencies): Syncs {
  const { db, clock, databaseNow, logger, onSynced } = dependencies;

  const stopping = new AbortController();
  // Each call of each sync listens to it.
  setMaxListeners(0, stopping.signal);
  /** The syncs of this process, each with its deployment. */
  const running = new Map<Promise<void>, string>();
  const syncOne = (claim: SyncClaim): Promise<void> => {
    const sync = syncAndEnd(claim).finally(() => running.delete(sync));
    running.set(sync, claim.deployment);
    return sync;
  };
  const runningOf = (deployment: string): Promise<void> | undefined =>
    [...running].find(([, other]) => other === deployment)?.[0];
  const syncAndEnd = async (claim: SyncClaim): Promise<void> => {
    try {
      if (await syncDeployment(dependencies, claim, stopping.signal)) onSynced();
    } catch (error) {
      // A runtime or catalog that restarts is no failure of ours, and is asked again.
      const isAway = error instanceof ServiceError && error.retryable;
      const level = isAway ? 'debug' : 'warn';
      logger[level]({ err: error, deployment: claim.deployment }, 'a deployment was not synced');
      await postponeSync(db, claim, await databaseNow());
    }
  };
  const runOnce = async () => {
    const claims = await claimSyncs(db, await databaseNow(), AT_ONCE);
    await Promise.all(claims.map(syncOne));
    if (claims.length === AT_ONCE) return 'more' as const;
    await lookAgainInTime();
    return 'idle' as const;
  };
  /** A postponed sync is not kept waiting until the next look. */
  const lookAgainInTime = async () => {
    const at = await nextSyncAt(db);
    if (at === undefined) return;
    const delay = Math.max(0, at - (await databaseNow()));
    if (delay < LOOK_MS) clock.sleep(delay, stopping.signal).then(loop.wake, () => undefined);
  };
  const loop = startPollLoop({ name: 'schedule syncs', intervalMs: LOOK_MS, runOnce, clock, logger });

  return {
    want: async (deployments) => {
      await wantSync(db, deployments, await databaseNow());
      loop.wake();
    },
    now: async (deployment, signal) => {
      const [want] = await wantSync(db, [deployment], await databaseNow());
      while (want !== undefined) {
        signal.throwIfAborted();
        const before = runningOf(deployment);
        const [claim] = await claimSyncs(db, await databaseNow(), 1, deployment);
        if (claim !== undefined) await orAborted(syncOne(claim), signal);
        const outcome = await outcomeOfWant(db, deployment, want);
        if (outcome === 'synced') return;
        if (outcome === 'failed') throw new ServiceError('unavailable', 'The schedules cannot be read now.');
        const own = before ?? runningOf(deployment);
        await (own === undefined ? clock.sleep(WAIT_MS, signal) : orAborted(own, signal));
      }
    },
    loop: {
      ...loop,
      stop: async () => {
        stopping.abort();
        await loop.stop();
        await Promise.all(running.keys());
      },
    },
  };
}
