import type { Bus } from '@orrery/bus';
import type { JournalFact } from '@orrery/contracts';
import type { Database } from '@orrery/database';
import type { Clock, Logger } from '@orrery/service-kit';
import type { Transaction } from 'kysely';

export interface FollowJournalOptions<Schema> {
  /** The following service, as in the calls that it makes. */
  readonly service: string;
  /** Durable name of the consumer on the bus, and of its rows in the inbox tables. */
  readonly consumer: string;
  /** Its schema has the tables of `inboxMigration`, `inboxHashes`, `inboxAttempts` and `inboxResolutions`. */
  readonly database: Pick<Database<Schema>, 'db'>;
  readonly bus: Pick<Bus, 'call' | 'consume'>;
  readonly clock: Clock;
  readonly logger: Logger;
  /**
   * The effect of one entry, in the transaction that moves the consumer's position. It may run several times, so it has
   * no effect outside the transaction, and it does not wait for the network.
   */
  readonly handle: (trx: Transaction<Schema>, entry: JournalFact) => Promise<void>;
  /** Attempts, counted over all processes, after which an entry becomes a dead letter. Default 10. */
  readonly maxAttempts?: number;
  /** Pause after the first failed attempt, in milliseconds; it doubles up to a minute. Default 500. */
  readonly retryBaseMs?: number;
  /** How often the positions are compared with the heads of the journals, in milliseconds. Default 5,000. */
  readonly pollMs?: number;
  /** Deployments that are worked on or wait, above which the heads are read more slowly. Default 5,000. */
  readonly mostAtOnce?: number;
  /** Ends the following; an entry in work is finished. */
  readonly signal: AbortSignal;
}
