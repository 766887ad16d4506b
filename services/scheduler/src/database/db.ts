import type { Kysely, Transaction } from 'kysely';
import type { SchedulerSchema } from './schema.js';

/** The scheduler's tables, inside or outside a transaction. */
export type Db = Kysely<SchedulerSchema>;
/** For what must be part of a transaction. */
export type Trx = Transaction<SchedulerSchema>;
