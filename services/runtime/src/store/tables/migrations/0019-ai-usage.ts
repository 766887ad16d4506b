import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `ai_usage`: what AI models cost, by deployment, UTC day and event. `ai_reservations`: what the requests under way may
 * cost at most; a run has one request under way, so a new owner's request replaces that of an owner that died, and what
 * nobody settles ends with its deadline.
 */
export const aiUsage: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.ai_usage (
        deployment_id bigint not null references runtime.deployments (id),
        day date not null,
        event text not null,
        account_id bigint not null,
        calls bigint not null,
        input_tokens bigint not null,
        output_tokens bigint not null,
        usd numeric not null,
        primary key (deployment_id, day, event)
      )`.execute(db);
    await sql`create index ai_usage_account on runtime.ai_usage (account_id, day)`.execute(db);
    await sql`
      create table runtime.ai_reservations (
        execution_id uuid primary key,
        id uuid not null unique,
        deployment_id bigint not null,
        account_id bigint not null,
        day date not null,
        usd numeric not null,
        expires_at timestamptz not null
      )`.execute(db);
    await sql`create index ai_reservations_account on runtime.ai_reservations (account_id)`.execute(db);
    await sql`alter table runtime.accounts add column ai_usd_per_day double precision`.execute(db);
  },
};
