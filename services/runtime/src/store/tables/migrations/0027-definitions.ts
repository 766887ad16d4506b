import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * What versions said that were executed, by their hash, for ever: a decision can be computed again after the version, its
 * world or the deployment are gone. One row for each world, so that who may read one of them learns nothing of another.
 */
export const definitions: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.definitions (
        world_id bigint not null,
        hash text not null,
        definition jsonb not null,
        primary key (world_id, hash)
      )`.execute(db);
  },
};
