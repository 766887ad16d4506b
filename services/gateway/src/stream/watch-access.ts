import { asServiceError, type ServiceError } from '@orrery/contracts';
import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';

export interface AccessWatch {
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** Rejects when the key is no longer valid. Called every second; reads memory only. */
  checkKey: () => Promise<unknown>;
  /** Rejects when the deployment is no longer visible. Called every five seconds. */
  checkVisibility: () => Promise<unknown>;
  heartbeat: () => void;
  onLost: (error: ServiceError) => void;
}

const SECOND = 1000;
const VISIBILITY_TICKS = 5;
const HEARTBEAT_TICKS = 15;

/** Ends an open stream when access is lost (within seconds after a revocation), and sends its heartbeats. */
export function watchAccess(watch: AccessWatch): PollLoop {
  let tick = 0;
  const runOnce = async () => {
    tick += 1;
    try {
      await watch.checkKey();
      if (tick % VISIBILITY_TICKS === 0) await watch.checkVisibility();
      if (tick % HEARTBEAT_TICKS === 0) watch.heartbeat();
    } catch (error) {
      watch.onLost(asServiceError(error));
    }
    return 'idle' as const;
  };
  const { clock, logger, signal } = watch;
  return startPollLoop({ name: 'access of a stream', intervalMs: SECOND, runOnce, clock, logger, signal });
}
