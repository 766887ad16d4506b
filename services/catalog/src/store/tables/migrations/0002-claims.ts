import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** References to definitions from outside the catalog. `revision` grows with every claim, so a sweep recognises a new one. */
export const claims: Migration = {
  up: async (db) => {
    await sql`
      create table claims (
        deployment text not null,
        kind text not null check (kind in ('world', 'version', 'schema')),
        target_id bigint not null,
        world_id bigint not null references worlds,
        revision bigint not null default 1,
        checked_at timestamptz(3) not null,
        primary key (deployment, kind, target_id)
      )`.execute(db);
    await sql`create index claims_of_target on claims (kind, target_id)`.execute(db);
    await sql`create index claims_of_world on claims (world_id)`.execute(db);
    await sql`create index claims_to_check on claims (checked_at)`.execute(db);
  },
};
