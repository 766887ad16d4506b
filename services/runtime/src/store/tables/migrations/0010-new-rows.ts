import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The forms in which a commit hands over what every batch has beside its entries (`commit/always-rows.ts`). As with
 * `new_entry`, what another release needs differently gets a type of another name.
 */
export const newRows: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`create type runtime.new_head as (deployment_id bigint, seq bigint, hash text, totals jsonb)`.execute(
      db,
    );
    await sql`
      create type runtime.new_change as (deployment_id bigint, entity_schema text, instance_id text, seq bigint)
    `.execute(db);
    await sql`
      create type runtime.new_state as (
        deployment_id bigint,
        entity_schema text,
        instance_id text,
        state jsonb,
        revision integer,
        updated_at timestamptz,
        id bigint,
        created_at timestamptz
      )`.execute(db);
  },
};
