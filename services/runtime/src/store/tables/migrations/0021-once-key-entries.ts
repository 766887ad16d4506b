import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `once_keys.seq`: the journal entry whose answer a key has, in place of a stored `reply`. `new_once_key` is the form in
 * which a commit hands over the keys that it claims.
 */
export const onceKeyEntries: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`alter table runtime.once_keys add column seq bigint`.execute(db);
    await sql`
      create type runtime.new_once_key as (
        scope text,
        key text,
        request_hash text,
        deployment_id bigint,
        run_id uuid,
        reply jsonb,
        seq bigint,
        created_at timestamptz,
        expires_at timestamptz
      )`.execute(db);
  },
};
