import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The catalog's revision of the claim behind a claimed schema or a binding: a claim is released by its revision, so that
 * a late release never removes a newer claim. Null where the claim is older than this column.
 */
export const claimRevisions: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`alter table runtime.claimed_schemas add column claim_revision integer`.execute(db);
    await sql`alter table runtime.bindings add column claim_revision integer`.execute(db);
  },
};
