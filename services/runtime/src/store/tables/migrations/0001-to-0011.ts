import { idempotencyTable, type Migrations, outboxMigration, statements } from '@orrery/database';

/** Released: none is ever changed. */
export const until0011: Migrations = {
  /**
   * `partitions`: who owns which part of the deployments, until when. `epoch` grows with every change of hands and when
   * an owner shuts out a commit of its own whose outcome it does not know. `members`: the processes that are alive.
   */
  '0001_ownership': statements(`
    create table runtime.members (
      instance text primary key,
      expires_at timestamptz not null
    );
    create table runtime.partitions (
      id smallint primary key,
      owner text,
      epoch bigint not null default 0,
      expires_at timestamptz
    ) with (fillfactor = 20);
    insert into runtime.partitions (id) select generate_series(0, 63);
  `),
  /**
   * Deployments, their bindings and the schemas that they hold a claim on because they have instances of them. Bindings
   * and instances get their ids from blocks that the owners take from `id_blocks`.
   */
  '0002_deployments': statements(`
    create table runtime.deployments (
      id bigint generated always as identity primary key,
      address text not null unique,
      world_id bigint not null,
      world_address text not null,
      owner_account_id bigint not null,
      name text not null,
      description text,
      mode text not null check (mode in ('upgradable', 'locked')),
      is_public boolean not null default false,
      owner_paused boolean not null default false,
      operator_paused boolean not null default false,
      account_paused boolean not null default false,
      is_llm_public boolean not null default false,
      ai_model_id text,
      ai_daily_budget_usd double precision,
      pay_to_address text,
      locked_at timestamptz,
      definition_hash text,
      locked_definition jsonb,
      source jsonb,
      deleted_at timestamptz,
      created_at timestamptz not null,
      updated_at timestamptz not null
    );
    create index deployments_of_world on runtime.deployments (world_id, id) where deleted_at is null;
    create index deployments_of_account on runtime.deployments (owner_account_id, id) where deleted_at is null;
    create sequence runtime.id_blocks;
    create table runtime.bindings (
      id bigint primary key,
      deployment_id bigint not null references runtime.deployments (id),
      event text not null,
      version_id bigint not null,
      event_version integer not null,
      target_chains jsonb not null,
      onchain jsonb,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      unique (deployment_id, event)
    );
    create table runtime.claimed_schemas (
      deployment_id bigint not null references runtime.deployments (id),
      entity_schema text collate "C" not null,
      schema_id bigint not null,
      primary key (deployment_id, entity_schema)
    );
  `),
  /**
   * `instances`: the current states, with ids that the owners give out from blocks (`id_blocks`); updates touch
   * no index, so they stay on their page. `kept_states`: the full state of an instance every 100 revisions (null:
   * deleted), from which reading the past and verifying start; the instances that a clone began with are kept states of
   * seq 0.
   */
  '0003_instances': statements(`
    create table runtime.instances (
      id bigint not null,
      deployment_id bigint not null,
      entity_schema text collate "C" not null,
      instance_id text collate "C" not null,
      state jsonb not null,
      revision integer not null,
      created_at timestamptz not null,
      updated_at timestamptz not null,
      primary key (deployment_id, entity_schema, instance_id)
    ) with (fillfactor = 70);
    create index instances_by_age on runtime.instances (deployment_id, id);
    create index instances_of_schema on runtime.instances (deployment_id, entity_schema, id);
    create index instances_by_key on runtime.instances (deployment_id, instance_id);
    create table runtime.kept_states (
      deployment_id bigint not null,
      entity_schema text collate "C" not null,
      instance_id text collate "C" not null,
      seq bigint not null,
      revision integer not null,
      state jsonb,
      primary key (deployment_id, entity_schema, instance_id, seq)
    );
  `),
  /**
   * `journal`: what happened, never changed afterwards. `journal_heads`: where each journal stands, with the counters
   * that lists show as totals (`entries`, `instances`, `<trigger>_<status>`). `instance_changes`: which entries changed
   * an instance.
   */
  '0004_journal': statements(`
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
    );
    create unique index journal_id on runtime.journal (id);
    create index journal_by_event on runtime.journal (deployment_id, event, trigger, status, seq)
    where kind = 'execution';
    create index journal_by_outcome on runtime.journal (deployment_id, trigger, status, seq)
    where kind = 'execution';
    create table runtime.journal_heads (
      deployment_id bigint primary key,
      seq bigint not null,
      hash text not null,
      totals jsonb not null
    ) with (fillfactor = 50);
    create table runtime.instance_changes (
      deployment_id bigint not null,
      entity_schema text collate "C" not null,
      instance_id text collate "C" not null,
      seq bigint not null,
      primary key (deployment_id, entity_schema, instance_id, seq)
    );
  `),
  '0005_outbox': outboxMigration,
  '0006_idempotency_keys': idempotencyTable,
  /**
   * `runs`: executions that wait for a decider, or that were requested asynchronously. A row claims its
   * Idempotency-Key from its first commit on; its steps are in `executions/run-steps.ts`.
   */
  '0007_runs': statements(`
    create table runtime.runs (
      id uuid primary key,
      deployment_id bigint not null references runtime.deployments (id),
      state text not null check (state in ('deciding', 'decided', 'staged', 'succeeded', 'failed')),
      request jsonb not null,
      request_hash text not null,
      account_id bigint,
      operation text,
      key text,
      deadline timestamptz not null,
      attempts integer not null default 1,
      holding boolean not null default false,
      holds jsonb,
      basis jsonb,
      proposal jsonb,
      reply jsonb,
      error jsonb,
      created_at timestamptz not null,
      ended_at timestamptz
    );
    create index runs_under_way on runtime.runs (deadline) where ended_at is null;
    create index runs_of_deployment on runtime.runs (deployment_id) where ended_at is null;
    create index runs_ended on runtime.runs (ended_at) where ended_at is not null;
    create unique index runs_key on runtime.runs (account_id, operation, key)
    where ended_at is null and key is not null;
  `),
  /** Accounts as the gateway, their owner, publishes them: the limit of deployments, and whether the account is disabled. */
  '0008_accounts': statements(`
    create table runtime.accounts (
      account_id bigint primary key,
      deployments integer,
      disabled boolean not null,
      revision bigint not null
    );
    create index accounts_disabled on runtime.accounts (account_id) where disabled;
    create index deployments_account_paused on runtime.deployments (id) where account_paused;
  `),
  /**
   * The form in which a commit hands its entries over (`commit/entry-rows.ts`), `input` and `changes` beside them. Processes
   * of two releases may write at once: what another release needs differently gets a type of another name.
   */
  '0009_new_entries': statements(`
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
    );
  `),
  /**
   * The forms in which a commit hands over what every batch has beside its entries (`commit/always-rows.ts`). As with
   * `new_entry`, what another release needs differently gets a type of another name.
   */
  '0010_new_rows': statements(`
    create type runtime.new_head as (deployment_id bigint, seq bigint, hash text, totals jsonb);
    create type runtime.new_change as (deployment_id bigint, entity_schema text, instance_id text, seq bigint);
    create type runtime.new_state as (
      deployment_id bigint,
      entity_schema text,
      instance_id text,
      state jsonb,
      revision integer,
      updated_at timestamptz,
      id bigint,
      created_at timestamptz
    );
  `),
  /**
   * What a commit compares before it writes: the previous entry of each head, and the step of each run. `next_head` takes
   * the place of `new_head`, which the previous release still uses. `runs.evidence` lists what each attempt of a decider
   * cost; `runs.call_id` names the HTTP request that waits for the run. `journal_heads.active_minute` is the Unix time of
   * the last entry in minutes: consumers read what changed since. It moves once a minute, so that most updates of a head
   * touch no index.
   */
  '0011_commit_rows': statements(`
    create type runtime.next_head as (
      deployment_id bigint,
      seq bigint,
      hash text,
      totals jsonb,
      prev_seq bigint,
      prev_hash text
    );
    alter table runtime.runs
      add column step integer not null default 0,
      add column evidence jsonb,
      add column call_id uuid;
    create index runs_of_call on runtime.runs (call_id) where call_id is not null;
    alter table runtime.journal_heads add column active_minute integer not null default 0;
    create index journal_heads_active on runtime.journal_heads (active_minute, deployment_id);
  `),
};
