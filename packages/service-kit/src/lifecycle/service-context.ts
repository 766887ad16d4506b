import type { Environment } from '../environment/environment.js';
import type { Health } from '../health/health.js';
import type { Logger } from '../logging/logger.js';
import type { Telemetry } from '../telemetry/start-telemetry.js';
import type { Clock } from '../timing/clock.js';
import type { Resources } from './resources.js';

/** What a service is built from. Tests and the all-in-one make one by hand. */
export interface ServiceContext {
  readonly env: Environment;
  /** Aborts when the process is asked to stop; every loop and wait of the service ends with it. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
  /** What is registered here is released, last in, first out, when the service stops or its start fails. */
  readonly resources: Resources;
  /** The process's checks; the service registers its own. */
  readonly health: Health;
  /** Shows the metrics of another thread with the process's own. */
  readonly telemetry: Pick<Telemetry, 'include'>;
  readonly clock: Clock;
  /** Ends the process with code 1, everything released. A StartupError is printed as one line. */
  readonly fail: (error: unknown) => void;
}

/** A service that answers. Disposing it gives back what it holds. */
export interface RunningService extends AsyncDisposable {
  /** How long that may take, in milliseconds, where it is longer than for other resources. */
  readonly stopTimeoutMs?: number;
}
