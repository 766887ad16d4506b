import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

export const accounts: Migration = { up: createTables };

async function createTables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table accounts (
      id bigint generated always as identity primary key,
      name text not null,
      wallet text unique,
      quotas jsonb not null default '{}',
      disabled_at timestamptz,
      revision bigint not null default 1,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    )`.execute(db);
  await sql`
    create table keys (
      id text primary key,
      account_id bigint not null references accounts (id),
      name text not null,
      hash bytea not null,
      scopes text[] not null,
      created_at timestamptz not null default now(),
      expires_at timestamptz,
      revoked_at timestamptz,
      last_used_at timestamptz
    )`.execute(db);
  await sql`create index keys_of_account on keys (account_id, created_at, id) where revoked_at is null`.execute(
    db,
  );
}
