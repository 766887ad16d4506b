import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `instances`: the current states, with ids that the owners give out from blocks (`id_blocks`); updates touch
 * no index, so they stay on their page. `kept_states`: the full state of an instance every 100 revisions (null:
 * deleted), from which reading the past and verifying start; the instances that a clone began with are checkpoints of
 * seq 0.
 */
export const instances: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
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
      ) with (fillfactor = 70)`.execute(db);
    await sql`create index instances_by_age on runtime.instances (deployment_id, id)`.execute(db);
    await sql`create index instances_of_schema on runtime.instances (deployment_id, entity_schema, id)`.execute(
      db,
    );
    await sql`create index instances_by_key on runtime.instances (deployment_id, instance_id)`.execute(db);
    await sql`
      create table runtime.kept_states (
        deployment_id bigint not null,
        entity_schema text collate "C" not null,
        instance_id text collate "C" not null,
        seq bigint not null,
        revision integer not null,
        state jsonb,
        primary key (deployment_id, entity_schema, instance_id, seq)
      )`.execute(db);
  },
};
