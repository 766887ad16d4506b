import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Accounts as the gateway, their owner, publishes them: the limit of deployments, and whether the account is disabled. */
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
