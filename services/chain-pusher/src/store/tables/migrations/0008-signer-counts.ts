import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** How many transactions of its signer a chain has included: what a later one waits for. */
export const signerCounts: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`alter table chains add column signer text, add column nonce bigint`.execute(db);
  },
};
