import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * What entries of version 2 add; `recorded` holds the members that few of them have. `journal_form` is the version that is
 * written: 2 once no process of an earlier release is left that could not read it, so in a new database from the start.
 * `next_entry` takes the place of `new_entry`, which the previous release still uses.
 */
export const entriesOfVersion2: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      alter table runtime.journal
        add column decided_at timestamptz, add column evaluator integer, add column recorded jsonb`.execute(
      db,
    );
    await sql`
      create table runtime.journal_form (
        single boolean primary key default true check (single),
        version smallint not null
      )`.execute(db);
    await sql`
      insert into runtime.journal_form (version)
      select case when exists (select from runtime.deployments) then 1 else 2 end`.execute(db);
    await sql`
      create type runtime.next_entry as (
        deployment_id bigint,
        deployment text,
        seq bigint,
        id uuid,
        v smallint,
        kind text,
        event text,
        event_version integer,
        version_hash text,
        trigger text,
        caller text,
        status text,
        result jsonb,
        error jsonb,
        llm_hash text,
        attestation jsonb,
        payment_key text,
        executed_at timestamptz,
        prev_hash text,
        hash text,
        llm jsonb,
        pushes jsonb,
        duration_ms double precision,
        decided_at timestamptz,
        evaluator integer,
        recorded jsonb
      )`.execute(db);
  },
};
