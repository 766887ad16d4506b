import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `once_keys`: what may be executed once, whoever asks: a signed message, an occurrence of a schedule, a payment. `reply`
 * is null while the execution that claimed the key is under way; `run_id` names its run, if it has one. `expires_at` is
 * null for keys that are kept until they are released.
 */
export const onceKeys: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.once_keys (
        scope text collate "C" not null,
        key text collate "C" not null,
        request_hash text not null,
        deployment_id bigint not null,
        run_id uuid,
        reply json,
        created_at timestamptz not null,
        expires_at timestamptz,
        primary key (scope, key)
      )`.execute(db);
    await sql`create index once_keys_run on runtime.once_keys (run_id) where run_id is not null`.execute(db);
    await sql`create index once_keys_expiry on runtime.once_keys (expires_at) where expires_at is not null`.execute(
      db,
    );
  },
};
