import {
  idempotencyTable,
  inboxAttempts,
  inboxHashes,
  inboxMigration,
  inboxResolutions,
  type Migrations,
  outboxMigration,
  outboxShards,
  statements,
} from '@orrery/database';

/** In order; a released one is never changed. */
export const migrations: Migrations = {
  '0001_inbox': inboxMigration,
  '0002_inbox_hashes': inboxHashes,
  '0003_inbox_attempts': inboxAttempts,
  /** What is to be pushed, and how far it has come (docs/on-chain.md, docs/adr/0024). */
  '0004_pushes': statements(`
    -- Whose deployments they are, from the first entries of their journals.
    create table deployments (address text primary key, account_id bigint);
    create index deployments_of_accounts on deployments (account_id);
    -- One lane for each deployment and chain: its pushes are numbered and sent in order.
    create table lanes (
      deployment text not null,
      chain text not null,
      last_number bigint not null,
      sent_number bigint not null default 0,
      stop text,
      failures integer not null default 0,
      wait_until timestamptz,
      waits_for text,
      primary key (deployment, chain)
    ) with (fillfactor = 70);
    create index lanes_with_work on lanes (chain, wait_until nulls first)
      where sent_number < last_number and stop is null;
    create table pushes (
      deployment text not null,
      chain text not null,
      number bigint not null,
      history_id uuid not null,
      seq bigint not null,
      entry_hash text not null,
      digest text not null,
      content text,
      truncated boolean not null,
      status text not null default 'queued',
      attempt_id bigint,
      error jsonb,
      created_at timestamptz not null default now(),
      changed_at timestamptz not null default now(),
      primary key (deployment, chain, number)
    ) with (fillfactor = 80);
    create unique index pushes_of_entries on pushes (deployment, history_id, chain);
    create index pushes_newest_first on pushes (deployment, seq desc, chain);
    create index pushes_by_status on pushes (deployment, status, seq desc, chain);
    create index pushes_of_attempts on pushes (attempt_id) where attempt_id is not null;
    -- One try to bring a range of a lane's numbers onto the chain, under one nonce where there are nonces.
    create table attempts (
      id bigint generated always as identity primary key,
      chain text not null,
      signer text not null,
      nonce bigint,
      deployment text not null,
      from_number bigint not null,
      to_number bigint not null,
      state text not null default 'open',
      transaction text,
      block bigint,
      block_id text,
      created_at timestamptz not null default now()
    ) with (fillfactor = 80);
    create unique index attempts_by_nonce on attempts (chain, signer, nonce)
      where state in ('open', 'included', 'confirmed');
    create index attempts_under_way on attempts (chain, id) where state in ('open', 'included', 'confirmed');
    create index attempts_of_lanes on attempts (deployment, chain) where state = 'open';
    -- The signed forms of an attempt: the first and those that replace it with a higher fee.
    create table transactions (
      chain text not null,
      id text not null,
      attempt_id bigint not null references attempts (id) on delete cascade,
      raw text not null,
      terms jsonb not null,
      created_at timestamptz not null default now(),
      sent_at timestamptz,
      primary key (chain, id)
    ) with (fillfactor = 80);
    create index transactions_of_attempts on transactions (attempt_id);
    -- Which process sends to a chain, under which epoch, and what it found the chain to be.
    create table chains (
      name text primary key,
      owner text,
      epoch bigint not null default 0,
      expires_at timestamptz,
      status text not null default 'unavailable',
      reason text
    ) with (fillfactor = 50);
    create table accounts (account_id bigint primary key, pushes_per_day integer, revision bigint not null);
    create table push_usage (
      account_id bigint not null,
      day date not null,
      pushes integer not null,
      primary key (account_id, day)
    ) with (fillfactor = 50);
    -- What an operator asked for by the command, until the process that sends to the chain has done it.
    create table adoptions (
      deployment text not null,
      chain text not null,
      outcome text,
      requested_at timestamptz not null default now(),
      primary key (deployment, chain)
    );
  `),
  '0005_outbox': outboxMigration,
  '0006_outbox_shards': outboxShards,
  /** The trace of the execution that a push is of, where it is recorded: what is sent to the chain continues it. */
  '0007_push_traces': statements(`
    alter table pushes add column traceparent text;
  `),
  /** How many transactions of its signer a chain has included: what a later one waits for. */
  '0008_signer_counts': statements(`
    alter table chains add column signer text, add column nonce bigint;
  `),
  /** Addresses that journals are sent to, how far each is, and what became of its deliveries (docs/adr/0042). */
  '0009_webhooks': statements(`
    create table webhooks (
      id uuid primary key,
      deployment text not null,
      account_id bigint,
      url text not null,
      events jsonb,
      status text,
      secret text not null,
      old_secret text,
      old_secret_until timestamptz,
      seq bigint not null,
      hash text,
      head_seq bigint not null,
      due_at timestamptz,
      claim uuid,
      claimed_until timestamptz,
      is_slow boolean not null default false,
      failures integer not null default 0,
      failing_since timestamptz,
      waiting_since timestamptz,
      problem jsonb,
      disabled_at timestamptz,
      last_number bigint not null default 0,
      open_number bigint,
      created_at timestamptz not null default now(),
      updated_at timestamptz not null default now()
    ) with (fillfactor = 50);
    create index webhooks_of_deployments on webhooks (deployment, created_at, id);
    create index webhooks_due on webhooks (is_slow, due_at) where due_at is not null and disabled_at is null;
    create table webhook_deliveries (
      webhook_id uuid not null references webhooks (id) on delete cascade,
      number bigint not null,
      kind text not null,
      history_id uuid,
      seq bigint,
      event text,
      state text not null,
      attempts integer not null default 0,
      response_status integer,
      problem jsonb,
      duration_ms integer,
      created_at timestamptz not null default now(),
      attempted_at timestamptz,
      claimed_until timestamptz,
      primary key (webhook_id, number)
    ) with (fillfactor = 80);
    create index webhook_deliveries_queued on webhook_deliveries (created_at) where state = 'queued';
    alter table accounts add column disabled boolean not null default false;
  `),
  /** What an operator asks to be done with dead letters. */
  '0010_inbox_resolutions': inboxResolutions,
  /** Heads that are pushed in place of executions, and those that are due (docs/adr/0056). */
  '0011_heads': statements(`
    alter table pushes add column head jsonb;
    create table due_heads (
      deployment text not null,
      chain text not null,
      before timestamptz not null,
      from_seq bigint not null,
      placed boolean not null default false,
      due_at timestamptz not null,
      primary key (deployment, chain, before)
    );
    create index due_heads_next on due_heads (due_at);
  `),
  /** Lanes of deleted deployments whose pushes beyond the last number are to be rewritten as cancelled, in small parts. */
  '0012_cancelling_lanes': statements(`
    alter table lanes add column cancels boolean not null default false;
    create index lanes_that_cancel on lanes (deployment) where cancels;
  `),
  /** When a node first weighed the fee of a transaction: one that no node has taken is not outbid. How far an adoption has come. */
  '0013_weighed_transactions': statements(`
    alter table transactions add column weighed_at timestamptz;
    alter table adoptions add column progress jsonb;
  `),
  /** Webhooks that were made for an Idempotency-Key; their secrets are encrypted there, too. */
  '0014_idempotency_keys': idempotencyTable,
  /**
   * Lanes that wait for a quota, or have stopped, apart from all that have ever pushed. There is one lane for each deployment and
   * chain, and few are in these indexes: to build them reads one small table, once.
   */
  '0015_waiting_lanes': statements(`
    create index lanes_without_quota on lanes (chain, wait_until) where waits_for = 'quota_exceeded';
    create index lanes_that_stopped on lanes (chain) where stop is not null;
  `),
};
