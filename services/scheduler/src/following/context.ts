import type { Bus } from '@orrery/bus';
import type { Clock, Logger } from '@orrery/service-kit';
import type { DatabaseClock } from '../store/tables/database-clock.js';
import type { Db } from '../store/tables/schema.js';

/** What all parts of the scheduler work with. */
export interface SchedulerContext {
  readonly db: Db;
  readonly bus: Pick<Bus, 'call' | 'consume' | 'listen'>;
  readonly clock: Clock;
  readonly databaseNow: DatabaseClock;
  readonly logger: Logger;
}
