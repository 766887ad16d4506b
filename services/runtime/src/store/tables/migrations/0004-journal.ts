import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `journal`: what happened, never changed afterwards. `journal_heads`: where each journal stands, with the counters
 * that lists show as totals (`entries`, `instances`, `<trigger>_<status>`). `instance_changes`: which entries changed
 * an instance.
 */
export const journal: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.journal (
        deployment_id bigint not null,
        seq bigint not null,
        id uuid not null,
        v smallint not null,
        kind text not null,
        event text,
        event_version integer,
        version_hash text,
        trigger text,
        caller text not null,
        status text,
        input jsonb,
        changes jsonb not null,
        result jsonb,
        error jsonb,
        llm_hash text,
        attestation jsonb,
        payment_key text,
        executed_at timestamptz not null,
        prev_hash text not null,
        hash text not null,
        llm jsonb,
        payment jsonb,
        pushes jsonb,
        duration_ms double precision,
        primary key (deployment_id, seq)
      )`.execute(db);
    await sql`create unique index journal_id on runtime.journal (id)`.execute(db);
    await sql`
      create index journal_by_event on runtime.journal (deployment_id, event, trigger, status, seq)
      where kind = 'execution'
    `.execute(db);
    await sql`
      create index journal_by_outcome on runtime.journal (deployment_id, trigger, status, seq)
      where kind = 'execution'`.execute(db);
    await sql`
      create table runtime.journal_heads (
        deployment_id bigint primary key,
        seq bigint not null,
        hash text not null,
        totals jsonb not null
      ) with (fillfactor = 50)`.execute(db);
    await sql`
      create table runtime.instance_changes (
        deployment_id bigint not null,
        entity_schema text collate "C" not null,
        instance_id text collate "C" not null,
        seq bigint not null,
        primary key (deployment_id, entity_schema, instance_id, seq)
      )`.execute(db);
  },
};
