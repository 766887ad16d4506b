import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * The roots over each 16 entries of a block of 256, one behind the other, so that a proof reads 16 entries and not the block.
 * Null: of other nodes, and of blocks that an earlier release added.
 */
export const partsOfBlocks: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`alter table runtime.merkle_nodes add column parts bytea`.execute(db);
  },
};
