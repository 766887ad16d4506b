import { type Migration, sql } from 'kysely';

/** What the gateway said of accounts; `worlds` null is no quota. */
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
