import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Revisions of claims from a sequence. A claim that is released and made again then has another revision, so a release
 * of the first that arrives late does not remove the second. The runtime stores them as integers, so they start again
 * after two billion.
 */
export const claimRevisions: Migration = {
  up: async (db) => {
    await sql`create sequence claim_revisions as integer cycle`.execute(db);
    await sql`select setval('claim_revisions', (select coalesce(max(revision), 0) + 1 from claims))`.execute(
      db,
    );
    await sql`alter table claims alter column revision set default nextval('claim_revisions')`.execute(db);
  },
};
