import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * What deployments have committed to for their random numbers: hashes of secrets, and what these are derived from beside the
 * operator's key. A table of its own, as that of what-if forks is. Few deployments have a row.
 */
export const randomness: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.randomness (
        deployment_id bigint primary key references runtime.deployments (id),
        commitments jsonb not null
      )`.execute(db);
  },
};
