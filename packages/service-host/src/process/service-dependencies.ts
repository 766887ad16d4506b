import type { Bus } from '@orrery/bus';
import type { Clock, Health, Logger } from '@orrery/service-kit';

/** What every service is built from, as a process and in the all-in-one. Nothing of it reads a variable. */
export interface ServiceDependencies {
  readonly databaseUrl: string;
  /** The service's own: it closes with the service. */
  readonly bus: Bus;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly health: Health;
}
