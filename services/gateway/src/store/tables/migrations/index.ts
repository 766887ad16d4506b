import {
  type Migrations,
  outboxMigration,
  outboxShardIndex,
  outboxShards,
  statements,
} from '@orrery/database';

/** In order; a released one is never changed. */
export const migrations: Migrations = {
  '0001_accounts': statements(`
    create table accounts (
      id bigint generated always as identity primary key,
      name text not null,
      wallet text unique,
      quotas jsonb not null default '{}',
      disabled_at timestamptz,
      revision bigint not null default 1,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    );
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
    );
    create index keys_of_account on keys (account_id, created_at, id) where revoked_at is null;
  `),
  // Challenges that may still be answered; an answered one is gone, whichever replica saw it.
  '0002_sign_in': statements(`
    create table challenges (
      wallet text not null,
      message text not null,
      expires_at timestamptz not null,
      primary key (wallet, message)
    );
    create index challenges_by_expiry on challenges (expires_at);
  `),
  '0003_outbox': outboxMigration,
  '0004_outbox_shards': outboxShards,
  '0005_outbox_shard_index': outboxShardIndex,
  // Codes that may still be exchanged for a token; an exchanged one is gone, whichever replica saw it.
  '0006_sign_in_codes': statements(`
    create table sign_in_codes (
      hash bytea primary key,
      account_id bigint not null references accounts (id),
      expires_at timestamptz not null
    );
  `),
  // Which key made a key, and what a wallet signs for: null for a sign-in. Keys of before have no maker.
  '0007_made_keys': statements(`
    alter table keys add column made_by text;
    create index keys_by_maker on keys (made_by) where made_by is not null;
    alter table challenges add column key jsonb;
  `),
};
