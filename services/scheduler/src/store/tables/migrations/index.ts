import {
  idempotencyTable,
  inboxAttempts,
  inboxHashes,
  inboxMigration,
  type Migrations,
  statements,
} from '@orrery/database';

/** In order; a released one is never changed. */
export const migrations: Migrations = {
  '0001_inbox': inboxMigration,
  '0002_inbox_hashes': inboxHashes,
  '0003_inbox_attempts': inboxAttempts,
  /**
   * `deployments`: how far each deployment's lifecycle is followed. `pending_syncs`: deployments that may have changed since.
   * `schedules`: one row for every event that is or was bound; what its bound version says of schedules, and how far its due
   * times are decided. `occurrences`: the ledger. `progress`: how far lists of other services were read.
   */
  '0004_schedules': statements(`
    create table deployments (
      address text primary key,
      seq bigint not null,
      hash text not null,
      pause_causes text[] not null
    ) with (fillfactor = 80);
    create table pending_syncs (
      deployment text primary key,
      wanted bigint not null default 1,
      not_before timestamptz(3) not null,
      failures integer not null default 0,
      claim uuid
    ) with (fillfactor = 70);
    create index pending_syncs_due on pending_syncs (not_before);
    create table schedules (
      id bigint generated always as identity primary key,
      deployment text not null,
      world_id bigint not null,
      world_address text not null,
      event text collate "C" not null,
      binding_id bigint,
      version_id bigint,
      event_version integer,
      version_hash text,
      definition_hash text,
      is_draft boolean not null default false,
      schedule text,
      timezone text,
      input jsonb,
      is_paused boolean not null default false,
      deployment_paused boolean not null default false,
      next_at timestamptz(3),
      decided_until timestamptz(3) not null,
      open_occurrence bigint,
      skips integer not null default 0,
      counter bigint not null default 0,
      cron_state jsonb not null default '{"counter": 0, "scheduledAt": null, "result": null}',
      consecutive_failures integer not null default 0,
      last_error jsonb,
      spread integer generated always as (('x' || substr(md5(deployment || ':' || event), 1, 8))::bit(32)::integer) stored,
      unique (deployment, event)
    ) with (fillfactor = 70);
    create index schedules_due on schedules (next_at, spread, id) where next_at is not null;
    create index schedules_of_version on schedules (version_id, deployment);
    create index schedules_of_event on schedules (world_id, event);
    create index schedules_of_draft on schedules (version_id) where is_draft and version_id is not null;
    create table occurrences (
      id bigint generated always as identity primary key,
      schedule_id bigint not null references schedules,
      kind text not null check (kind in ('due', 'manual', 'span', 'pause')),
      due_at timestamptz(3) not null,
      until timestamptz(3),
      count integer not null default 1,
      status text not null check (status in ('running', 'fired', 'skipped', 'missed', 'paused')),
      reason text,
      version_id bigint,
      event_version integer,
      counter bigint,
      input jsonb,
      expected jsonb,
      attempt smallint not null default 1,
      repeats integer not null default 0,
      claimed_until timestamptz(3),
      outcome text check (outcome in ('succeeded', 'failed')),
      history_id text,
      seq bigint,
      error jsonb,
      started_at timestamptz(3) not null,
      ended_at timestamptz(3),
      acknowledged boolean not null default true
    ) with (fillfactor = 80);
    create unique index occurrences_once on occurrences (schedule_id, due_at) where kind = 'due';
    create index occurrences_listed on occurrences (schedule_id, due_at desc, id desc);
    create index occurrences_by_status on occurrences (schedule_id, status, due_at desc, id desc);
    create index occurrences_running on occurrences (claimed_until) where status = 'running';
    create index occurrences_unacknowledged on occurrences (id) where not acknowledged;
    create table progress (name text primary key, until text not null);
  `),
  '0005_idempotency_keys': idempotencyTable,
  /**
   * When deployments were last synced, and which of the hints a sync has covered. Only drafts change, so only they are looked
   * up by version and event: each index of all schedules would cost every occurrence a write.
   */
  '0006_syncs': statements(`
    alter table deployments add column synced_at timestamptz(3);
    drop index schedules_of_version, schedules_of_event, schedules_of_draft;
    create index schedules_of_draft on schedules (version_id, deployment) where is_draft;
    create index schedules_of_draft_event on schedules (world_id, event) where is_draft;
    alter table pending_syncs add column done bigint not null default 0;
  `),
  /**
   * Drops the tables of a consumer: since 0004 the scheduler follows lifecycles and consumes no journal. Processes of the
   * release before only count the rows of `inbox_parked` for a metric, which is missing then.
   */
  '0007_without_inbox': statements(`
    drop table inbox_positions, inbox_parked, inbox_attempts;
  `),
  /**
   * Says which deployments were deleted, so that their schedules can be removed once their ledgers are old. Those with
   * nothing bound are asked for again, since it is not known whether they were.
   */
  '0008_deleted_deployments': statements(`
    alter table deployments add column is_deleted boolean not null default false;
    insert into pending_syncs (deployment, not_before)
    select d.address, now() from deployments d
    where exists (select from schedules s where s.deployment = d.address)
      and not exists (select from schedules s where s.deployment = d.address and s.binding_id is not null)
    on conflict do nothing;
  `),
  /** When the next attempt is made. It still waits while nothing has changed `claimed_until` since: a pause then ends it. */
  '0009_next_attempts': statements(`
    alter table occurrences add column next_attempt_at timestamptz(3);
  `),
};
