import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Deployments that are what-if forks, and which of them stay. A table of their own: a column of `deployments` would break
 * the prepared statements of processes of the release before, which read all of its columns.
 */
export const whatIf: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.what_if_forks (
        deployment_id bigint primary key references runtime.deployments (id),
        is_kept boolean not null default false
      )`.execute(db);
  },
};
