import {
  idempotencyTable,
  type Migrations,
  outboxMigration,
  outboxShardIndex,
  outboxShards,
  statements,
} from '@orrery/database';

/** In order; a released one is never changed. */
export const migrations: Migrations = {
  /**
   * Worlds and their contents. Counters are columns of the parent row, updated in the transaction of the change. JSON of
   * users is `json`, not `jsonb`: answers keep the order of keys in which they were sent.
   */
  '0001_definitions': statements(`
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
    );
    create index worlds_of_owner on worlds (owner_account_id, id);
    create index worlds_public on worlds (id) include (owner_account_id) where is_public;
    create table world_counters (
      account_id bigint primary key,
      worlds integer not null default 0 check (worlds >= 0),
      public_worlds integer not null default 0 check (public_worlds >= 0)
    );
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
    );
    create index entity_schemas_of_world on entity_schemas (world_id, id);
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
    );
    create index attributes_of_schema on attributes (schema_id, id);
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
    );
    create index events_of_world on events (world_id, id);
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
    );
    create table version_schemas (
      version_id bigint not null references event_versions on delete cascade,
      schema_id bigint not null constraint version_schemas_schema_fkey references entity_schemas,
      primary key (version_id, schema_id)
    );
    create index version_schemas_of_schema on version_schemas (schema_id);
  `),
  /** References to definitions from outside the catalog. `revision` grows with every claim, so a sweep recognises a new one. */
  '0002_claims': statements(`
    create table claims (
      deployment text not null,
      kind text not null check (kind in ('world', 'version', 'schema')),
      target_id bigint not null,
      world_id bigint not null references worlds,
      revision bigint not null default 1,
      checked_at timestamptz(3) not null,
      primary key (deployment, kind, target_id)
    );
    create index claims_of_target on claims (kind, target_id);
    create index claims_of_world on claims (world_id);
    create index claims_to_check on claims (checked_at);
  `),
  /** The quotas of accounts as the gateway published them; `worlds` null is no quota. */
  '0003_quotas': statements(`
    create table account_quotas (
      account_id bigint primary key,
      worlds integer,
      revision bigint not null
    );
  `),
  '0004_idempotency': idempotencyTable,
  '0005_outbox': outboxMigration,
  /**
   * A cheap answer to whether a cached version is still current. The columns are generated, so existing rows have them and
   * no writer can forget them. The function is declared immutable although the conversions in it are not: they depend only
   * on the database's encoding, which never changes.
   */
  '0006_definition_hash': statements(`
    create function json_hash(content json) returns text language sql immutable strict parallel safe
    return encode(sha256(convert_to(content::text, 'UTF8')), 'hex');
    alter table event_versions
      add column definition_hash text not null generated always as (json_hash(definition)) stored,
      add column uses_all_schemas boolean not null
        generated always as (definition ->> 'stateChanges' is null) stored;
  `),
  '0007_outbox_shards': outboxShards,
  /**
   * Revisions of claims from a sequence. A claim that is released and made again then has another revision, so a release
   * of the first that arrives late does not remove the second. The runtime stores them as integers, so they start again
   * after two billion.
   */
  '0008_claim_revisions': statements(`
    create sequence claim_revisions as integer cycle;
    select setval('claim_revisions', (select coalesce(max(revision), 0) + 1 from claims));
    alter table claims alter column revision set default nextval('claim_revisions');
  `),
  '0009_outbox_shard_index': outboxShardIndex,
  /** Which attributes deployments keep indexes of. No definition and no hash covers it. */
  '0013_indexed_attributes': statements(`
    alter table attributes add column indexed boolean not null default false;
    create index attributes_indexed on attributes (schema_id) where indexed;
  `),
};
