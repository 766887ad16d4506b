import { type Kysely, type Migration, sql } from 'kysely';

/** What the gateway, their owner, has published of the accounts: how many deployments each may have, and which are disabled. */
export const accounts: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.accounts (
        account_id bigint primary key,
        deployments integer,
        disabled boolean not null,
        revision bigint not null
      )`.execute(db);
    await sql`create index accounts_disabled on runtime.accounts (account_id) where disabled`.execute(db);
    await sql`
      create index deployments_account_paused on runtime.deployments (id) where account_paused
    `.execute(db);
  },
};
