import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Drops the tables of a consumer: since 0004 the scheduler follows lifecycles and consumes no journal. Processes of the
 * release before only count the rows of `inbox_parked` for a metric, which is missing then.
 */
export const withoutInbox: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`drop table inbox_positions, inbox_parked, inbox_attempts`.execute(db);
  },
};
