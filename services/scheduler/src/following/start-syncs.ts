import { ServiceError } from '@orrery/contracts';
import { type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';
import { type SyncDependencies, syncDeployment } from './sync-deployment.js';
import { claimSyncs, nextSyncAt, postponeSync, type SyncClaim, wantSync } from './sync-queue.js';

export interface SyncsDependencies extends SyncDependencies {
  readonly logger: Logger;
  /** Schedules may be due at other times now. */
  readonly onSynced: () => void;
}

/** Brings deployments up to date that may have changed. */
export interface Syncs {
  /** Notes that deployments may have changed, and has them looked at at once. */
  want(deployments: readonly string[]): Promise<void>;
  /** Resolves when a sync that began after the call has ended, here or elsewhere. @throws the signal's reason */
  now(deployment: string, signal: AbortSignal): Promise<void>;
  readonly loop: PollLoop;
}

/** Syncs that one process runs at once. */
const AT_ONCE = 16;
/** How often the queue is looked at when nothing wakes it, in milliseconds: another process may have gone. */
const LOOK_MS = 15_000;
/** How often it is looked whether another process has ended a sync, in milliseconds. */
const WAIT_MS = 50;

export function startSyncs(dependencies: SyncsDependencies): Syncs {
  const { db, clock, databaseNow, logger, onSynced } = dependencies;

  const syncOne = async (claim: SyncClaim, signal: AbortSignal): Promise<void> => {
    try {
      if (await syncDeployment(dependencies, claim, signal)) onSynced();
    } catch (error) {
      // A runtime or catalog that restarts is no failure of ours, and is asked again.
      const isAway = error instanceof ServiceError && error.retryable;
      const level = isAway ? 'debug' : 'warn';
      logger[level]({ err: error, deployment: claim.deployment }, 'a deployment was not synced');
      await postponeSync(db, claim, await databaseNow());
    }
  };
  const runOnce = async (signal: AbortSignal) => {
    const claims = await claimSyncs(db, await databaseNow(), AT_ONCE);
    await Promise.all(claims.map((claim) => syncOne(claim, signal)));
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
  const stopping = new AbortController();
  const loop = startPollLoop({ name: 'schedule syncs', intervalMs: LOOK_MS, runOnce, clock, logger });

  return {
    want: async (deployments) => {
      await wantSync(db, deployments, await databaseNow());
      loop.wake();
    },
    now: async (deployment, signal) => {
      await wantSync(db, [deployment], await databaseNow());
      while (!signal.aborted) {
        const [claim] = await claimSyncs(db, await databaseNow(), 1, deployment);
        if (claim !== undefined) await syncOne(claim, signal);
        const pending = await db
          .selectFrom('pending_syncs')
          .select('failures')
          .where('deployment', '=', deployment)
          .executeTakeFirst();
        if (pending === undefined) return;
        if (pending.failures > 0) throw new ServiceError('unavailable', 'The schedules cannot be read now.');
        await clock.sleep(WAIT_MS, signal);
      }
      signal.throwIfAborted();
    },
    loop: {
      ...loop,
      stop: async () => {
        stopping.abort();
        await loop.stop();
      },
    },
  };
}
