import type { Database } from '@orrery/database';
import type { Clock, Logger } from '@orrery/service-kit';
import type { Kysely, Transaction } from 'kysely';
import type { Announce } from './changes/announce-change.js';
import type { CatalogLimits } from './config.js';
import type { CatalogSchema } from './database/schema.js';

export type CatalogDatabase = Kysely<CatalogSchema>;
export type CatalogTransaction = Transaction<CatalogSchema>;

/** What the catalog's handlers work with. Built by hand in `service.ts`. */
export interface CatalogContext {
  readonly db: CatalogDatabase;
  /** For prepared statements. */
  readonly pool: Database<CatalogSchema>['pool'];
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: CatalogLimits;
  /** Tells subscribers of a change, once the transaction has committed. */
  readonly announce: Announce;
}

export const nowOf = ({ clock }: Pick<CatalogContext, 'clock'>): Date => new Date(clock.now());
