import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `lifetimes`: when the instances of a deployment were there, from the entry that created each to the one that deleted
 * it; `place` is the order of those that one entry created. It is computed from the journal up to `lifetime_heads.seq`
 * when a past list is read, so commits do not write it. A life that has ended lasted 2^`span` entries or more, and fewer
 * than twice that: those that contain an entry are found by one range of the index for each span.
 */
export const lifetimes: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.lifetime_heads (
        deployment_id bigint primary key,
        seq bigint not null
      )`.execute(db);
    await sql`
      create table runtime.lifetimes (
        deployment_id bigint not null,
        created_seq bigint not null,
        place integer not null,
        entity_schema text collate "C" not null,
        instance_id text collate "C" not null,
        deleted_seq bigint check (deleted_seq > created_seq),
        span smallint generated always as (
          length(ltrim((deleted_seq - created_seq)::bit(63)::text, '0')) - 1) stored,
        primary key (deployment_id, created_seq, place)
      )`.execute(db);
    await sql`
      create unique index lifetimes_going_on on runtime.lifetimes (deployment_id, entity_schema, instance_id)
      include (created_seq, place) where deleted_seq is null`.execute(db);
    await sql`
      create index lifetimes_ended on runtime.lifetimes (deployment_id, span, created_seq) include (deleted_seq)
      where deleted_seq is not null`.execute(db);
  },
};
