import { setTimeout as delay } from 'node:timers/promises';
import { type Logger, StartupError } from '@orrery/service-kit';
import { clearStaleServer } from './existing-server.js';
import { type RunningServer, runServer, type ServerPlan } from './run-server.js';

export interface Supervision {
  readonly logger: Logger;
  /** The server ended again and again, or cannot be started: the error says why, and it is not tried again. */
  readonly onLost: (error: StartupError) => void;
  /** The pauses before the tries that one minute may have, in milliseconds. Default 200, 1,000 and 3,000. */
  readonly pausesMs?: readonly number[];
}

const PAUSES_MS = [200, 1000, 3000];
const WINDOW_MS = 60_000;
const FULL_DISK_PAUSE_MS = 3000;

/**
 * Starts the server, and starts it again when it ends by itself:
 *
 *   running ─ ended ─→ pause ─ started ─→ running
 *              ↑         └─ failed ─→ (counts as ended)
 *              └─ once more than there are pauses, within a minute ─→ `onLost`
 *
 * While a full disk is the reason, tries go on for as long as that lasts.
 */
export async function keepRunning(
  plan: ServerPlan,
  { logger, onLost, pausesMs = PAUSES_MS }: Supervision,
): Promise<Pick<RunningServer, 'pid' | 'stop'>> {
  const stopping = new AbortController();
  const signal = AbortSignal.any([stopping.signal, ...(plan.signal ? [plan.signal] : [])]);
  const tries: number[] = [];

  /** Resolves with the pause before the next try, or `undefined` when there were too many. */
  const nextPause = (reason: string): number | undefined => {
    if (isFullDisk(reason)) return FULL_DISK_PAUSE_MS;
    while ((tries[0] ?? Number.POSITIVE_INFINITY) < performance.now() - WINDOW_MS) tries.shift();
    tries.push(performance.now());
    return pausesMs[tries.length - 1];
  };
  const startAgain = async (ended: string): Promise<RunningServer | undefined> => {
    for (let reason = ended; !signal.aborted; ) {
      const pause = nextPause(reason);
      if (pause === undefined) {
        onLost(new StartupError(`PostgreSQL ended and does not stay up: ${reason}`));
        return undefined;
      }
      logger.error({ reason }, 'the embedded PostgreSQL ended; it is started again');
      await delay(pause, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return undefined;
      try {
        await clearStaleServer(plan.cluster.dataDirectory);
        return await runServer({ ...plan, signal });
      } catch (error) {
        reason = (error as Error).message;
      }
    }
    return undefined;
  };

  let server = await runServer(plan);
  const watch = async () => {
    while (!signal.aborted) {
      const ended = await server.ended;
      const next = signal.aborted ? undefined : await startAgain(ended);
      if (next === undefined) return;
      server = next;
      logger.info({ pid: server.pid }, 'the embedded PostgreSQL runs again');
    }
  };
  const watching = watch();
  return {
    get pid() {
      return server.pid;
    },
    stop: async () => {
      stopping.abort();
      await server.stop();
      await watching;
    },
  };
}

/** As PostgreSQL and the system say it, and as Node does. */
export const isFullDisk = (reason: string): boolean => /No space left on device|ENOSPC/.test(reason);
