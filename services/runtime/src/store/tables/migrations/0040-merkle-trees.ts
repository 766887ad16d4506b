import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The RFC 6962 tree over each journal, computed from it afterwards. `merkle_heads`: the first `size` entries are in it, always
 * whole blocks of 256; `generation` is 1 and the number of `tail_lost` among these, `lost` what the last of those names.
 * `merkle_nodes`: the roots of complete subtrees of 2^`level` entries, from blocks up.
 */
export const merkleTrees: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.merkle_heads (
        deployment_id bigint primary key,
        size bigint not null,
        generation integer not null,
        lost jsonb
      )`.execute(db);
    await sql`
      create table runtime.merkle_nodes (
        deployment_id bigint not null,
        level smallint not null,
        place bigint not null,
        node bytea not null,
        primary key (deployment_id, level, place)
      )`.execute(db);
  },
};
