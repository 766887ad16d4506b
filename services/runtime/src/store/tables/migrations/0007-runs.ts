import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `runs`: executions that wait for a decider, or that were requested asynchronously. A row claims its
 * Idempotency-Key from its first commit on; its steps are in `executions/run-steps.ts`.
 */
export const runs: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.runs (
        id uuid primary key,
        deployment_id bigint not null references runtime.deployments (id),
        state text not null check (state in ('deciding', 'decided', 'staged', 'succeeded', 'failed')),
        request jsonb not null,
        request_hash text not null,
        account_id bigint,
        operation text,
        key text,
        deadline timestamptz not null,
        attempts integer not null default 1,
        holding boolean not null default false,
        holds jsonb,
        basis jsonb,
        proposal jsonb,
        reply jsonb,
        error jsonb,
        created_at timestamptz not null,
        ended_at timestamptz
      )`.execute(db);
    await sql`create index runs_under_way on runtime.runs (deadline) where ended_at is null`.execute(db);
    await sql`create index runs_of_deployment on runtime.runs (deployment_id) where ended_at is null`.execute(
      db,
    );
    await sql`create index runs_ended on runtime.runs (ended_at) where ended_at is not null`.execute(db);
    await sql`
      create unique index runs_key on runtime.runs (account_id, operation, key)
      where ended_at is null and key is not null`.execute(db);
  },
};
