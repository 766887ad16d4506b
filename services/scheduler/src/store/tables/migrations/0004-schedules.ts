import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `deployments`: how far each deployment's lifecycle is followed. `pending_syncs`: deployments that may have changed since.
 * `schedules`: one row for every event that is or was bound; what its bound version says of schedules, and how far its due
 * times are decided. `occurrences`: the ledger. `progress`: how far lists of other services were read.
 */
export const schedules: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table deployments (
        address text primary key,
        seq bigint not null,
        hash text not null,
        pause_causes text[] not null
      ) with (fillfactor = 80)`.execute(db);
    await sql`
      create table pending_syncs (
        deployment text primary key,
        wanted bigint not null default 1,
        not_before timestamptz(3) not null,
        failures integer not null default 0,
        claim uuid
      ) with (fillfactor = 70)`.execute(db);
    await sql`create index pending_syncs_due on pending_syncs (not_before)`.execute(db);
    await sql`
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
      ) with (fillfactor = 70)`.execute(db);
    await sql`create index schedules_due on schedules (next_at, spread, id) where next_at is not null`.execute(
      db,
    );
    await sql`create index schedules_of_version on schedules (version_id, deployment)`.execute(db);
    await sql`create index schedules_of_event on schedules (world_id, event)`.execute(db);
    await sql`
      create index schedules_of_draft on schedules (version_id) where is_draft and version_id is not null`.execute(
      db,
    );
    await sql`
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
      ) with (fillfactor = 80)`.execute(db);
    await sql`
      create unique index occurrences_once on occurrences (schedule_id, due_at) where kind = 'due'`.execute(
      db,
    );
    await sql`
      create index occurrences_listed on occurrences (schedule_id, due_at desc, id desc)`.execute(db);
    await sql`
      create index occurrences_by_status on occurrences (schedule_id, status, due_at desc, id desc)`.execute(
      db,
    );
    await sql`
      create index occurrences_running on occurrences (claimed_until) where status = 'running'`.execute(db);
    await sql`
      create index occurrences_unacknowledged on occurrences (id) where not acknowledged`.execute(db);
    await sql`create table progress (name text primary key, until text not null)`.execute(db);
  },
};
