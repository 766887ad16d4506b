import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Deployments, their bindings and the schemas that they hold a claim on because they have instances of them. Bindings
 * and instances get their ids from blocks that the owners take from `id_blocks`.
 */
export const deployments: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
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
      )`.execute(db);
    await sql`
      create index deployments_of_world on runtime.deployments (world_id, id) where deleted_at is null
    `.execute(db);
    await sql`
      create index deployments_of_account on runtime.deployments (owner_account_id, id) where deleted_at is null
    `.execute(db);
    await sql`create sequence runtime.id_blocks`.execute(db);
    await sql`
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
      )`.execute(db);
    await sql`
      create table runtime.claimed_schemas (
        deployment_id bigint not null references runtime.deployments (id),
        entity_schema text collate "C" not null,
        schema_id bigint not null,
        primary key (deployment_id, entity_schema)
      )`.execute(db);
  },
};
