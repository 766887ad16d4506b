import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Deployments whose definitions others may read. A table of their own, since processes of the release before read all columns
 * of `deployments`.
 */
export const codeAccess: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.code_access (
        deployment_id bigint primary key references runtime.deployments (id),
        is_public boolean not null
      )`.execute(db);
  },
};
