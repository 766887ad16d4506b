import { asServiceError, type ServiceError } from '@orrery/contracts';
import { type Clock, type Logger, type PollLoop, startPollLoop } from '@orrery/service-kit';

export interface AccessWatch {
  clock: Clock;
  logger: Logger;
  signal: AbortSignal;
  /** Whether the key still holds; asked every second, from memory. */
  checkKey: () => Promise<unknown>;
  /** Whether the deployment can still be seen; asked every five seconds. */
  checkVisibility: () => Promise<unknown>;
  beat: () => void;
  onLost: (error: ServiceError) => void;
}

const SECOND = 1000;
const VISIBILITY_TICKS = 5;
const BEAT_TICKS = 15;

/** While a stream is open: ends it when access is lost (a revocation holds within seconds), and keeps it alive. */
export function watchAccess(watch: AccessWatch): PollLoop {
  let tick = 0;
  const runOnce = async () => {
    tick += 1;
    try {
      await watch.checkKey();
      if (tick % VISIBILITY_TICKS === 0) await watch.checkVisibility();
      if (tick % BEAT_TICKS === 0) watch.beat();
    } catch (error) {
      watch.onLost(asServiceError(error));
    }
    return 'idle' as const;
  };
  const { clock, logger, signal } = watch;
  return startPollLoop({ name: 'access of a stream', intervalMs: SECOND, runOnce, clock, logger, signal });
}
