import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `attribute_indexes`: which attributes of which deployments are indexed (docs/queries.md "Indexes"). `building` up to the
 * instance with the id `built_to`; `complete`; `dropped`, and deleted later, once no query reads it any more.
 *
 * `indexed_values`: for each instance of the schema what an order compares of the attribute: 0 a number, 1 a text, 2 a
 * boolean (as 0 or 1), 3 missing. What a kind has not is 0 or empty, so that rows compare as orders do. The condition of the
 * index in order is true of every row: queries say it, commits do not, so these always look a row up by its key.
 *
 * `journal_form.keeps_indexes`: whether no process of an earlier release is left that would write without indexes.
 */
export const attributeIndexes: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.attribute_indexes (
        id bigint primary key generated always as identity,
        deployment_id bigint not null,
        partition smallint not null,
        entity_schema text collate "C" not null,
        schema_id bigint not null,
        attribute text collate "C" not null,
        state text not null check (state in ('building', 'complete', 'dropped')),
        built_to bigint not null default 0,
        dropped_at timestamptz
      )`.execute(db);
    await sql`
      create unique index attribute_indexes_kept on runtime.attribute_indexes (deployment_id, entity_schema, attribute)
      where state <> 'dropped'`.execute(db);
    await sql`
      create index attribute_indexes_unfinished on runtime.attribute_indexes (partition, id) where state <> 'complete'`.execute(
      db,
    );
    await sql`
      create table runtime.indexed_values (
        index_id bigint not null,
        instance_id text collate "C" not null,
        kind smallint not null,
        number double precision not null,
        text text collate "C" not null,
        primary key (index_id, instance_id)
      )`.execute(db);
    await sql`
      create index indexed_values_in_order on runtime.indexed_values (index_id, kind, number, text, instance_id)
      where kind >= 0`.execute(db);
    await sql`create index claimed_schemas_by_schema on runtime.claimed_schemas (schema_id)`.execute(db);
    await sql`alter table runtime.journal_form add column keeps_indexes boolean not null default false`.execute(
      db,
    );
    await sql`
      update runtime.journal_form set keeps_indexes = not exists (select from runtime.deployments)`.execute(
      db,
    );
  },
};
