import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Adds `idempotency_keys` to a service's schema. `reply` is null while the first request is under way. */
export const idempotencyTable: Migration = {
  up: async (db) => {
    await sql`
      create table idempotency_keys (
        account_id bigint not null,
        operation text not null,
        key text not null,
        request_hash text not null,
        reply json,
        created_at timestamptz(3) not null,
        primary key (account_id, operation, key)
      )`.execute(db);
    await sql`create index idempotency_keys_by_age on idempotency_keys (created_at)`.execute(db);
  },
};
