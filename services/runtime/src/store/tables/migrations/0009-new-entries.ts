import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The form in which a commit hands its entries over (`commit/entry-rows.ts`), `input` and `changes` beside them. Processes
 * of two releases may write at once: what another release needs differently gets a type of another name.
 */
export const newEntries: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create type runtime.new_entry as (
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
        duration_ms double precision
      )`.execute(db);
  },
};
