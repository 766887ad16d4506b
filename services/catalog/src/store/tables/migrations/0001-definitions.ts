import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Worlds and their contents. Counters are columns of the parent row, updated in the transaction of the change. JSON of
 * users is `json`, not `jsonb`: answers keep the order of keys in which they were sent.
 */
export const definitions: Migration = {
  up: async (db) => {
    await sql`
      create table worlds (
        id bigint generated always as identity primary key,
        address text not null constraint worlds_address_key unique,
        owner_account_id bigint not null,
        name text not null,
        description text,
        domain_tags json not null,
        prompt_seed text,
        is_public boolean not null default false,
        schema_count integer not null default 0 check (schema_count >= 0),
        event_count integer not null default 0 check (event_count >= 0),
        schema_bytes integer not null default 0 check (schema_bytes >= 0),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null
      )`.execute(db);
    await sql`create index worlds_of_owner on worlds (owner_account_id, id)`.execute(db);
    await sql`create index worlds_public on worlds (id) include (owner_account_id) where is_public`.execute(
      db,
    );
    await sql`
      create table world_counters (
        account_id bigint primary key,
        worlds integer not null default 0 check (worlds >= 0),
        public_worlds integer not null default 0 check (public_worlds >= 0)
      )`.execute(db);
    await sql`
      create table entity_schemas (
        id bigint generated always as identity primary key,
        world_id bigint not null references worlds on delete cascade,
        name text not null,
        description text,
        attribute_count integer not null default 0 check (attribute_count >= 0),
        definition json not null,
        hash text not null,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        constraint entity_schemas_name_key unique (world_id, name)
      )`.execute(db);
    await sql`create index entity_schemas_of_world on entity_schemas (world_id, id)`.execute(db);
    await sql`
      create table attributes (
        id bigint generated always as identity primary key,
        schema_id bigint not null references entity_schemas on delete cascade,
        name text not null,
        type text not null,
        constraints json,
        default_value json,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        constraint attributes_name_key unique (schema_id, name)
      )`.execute(db);
    await sql`create index attributes_of_schema on attributes (schema_id, id)`.execute(db);
    await sql`
      create table events (
        id bigint generated always as identity primary key,
        world_id bigint not null references worlds on delete cascade,
        name text not null,
        description text,
        last_version integer not null default 0,
        version_count integer not null default 0 check (version_count >= 0),
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        constraint events_name_key unique (world_id, name)
      )`.execute(db);
    await sql`create index events_of_world on events (world_id, id)`.execute(db);
    await sql`
      create table event_versions (
        id bigint generated always as identity primary key,
        event_id bigint not null references events on delete cascade,
        version integer not null,
        definition json not null,
        locked_at timestamptz(3),
        frozen_schemas json,
        version_hash text,
        created_at timestamptz(3) not null,
        updated_at timestamptz(3) not null,
        constraint event_versions_number_key unique (event_id, version),
        constraint event_versions_locked_whole check (
          (locked_at is null) = (frozen_schemas is null) and (locked_at is null) = (version_hash is null)
        )
      )`.execute(db);
    await sql`
      create table version_schemas (
        version_id bigint not null references event_versions on delete cascade,
        schema_id bigint not null constraint version_schemas_schema_fkey references entity_schemas,
        primary key (version_id, schema_id)
      )`.execute(db);
    await sql`create index version_schemas_of_schema on version_schemas (schema_id)`.execute(db);
  },
};
