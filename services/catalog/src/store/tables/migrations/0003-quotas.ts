import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The quotas of accounts as the gateway published them; `worlds` null is no quota. */
export const quotas: Migration = {
  up: async (db) => {
    await sql`
      create table account_quotas (
        account_id bigint primary key,
        worlds integer,
        revision bigint not null
      )`.execute(db);
  },
};
