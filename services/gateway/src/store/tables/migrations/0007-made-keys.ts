import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Which key made a key, and what a wallet signs for: null for a sign-in. Keys of before have no maker. */
export const madeKeys: Migration = { up: addColumns };

async function addColumns(db: Kysely<unknown>): Promise<void> {
  await sql`alter table keys add column made_by text`.execute(db);
  await sql`create index keys_by_maker on keys (made_by) where made_by is not null`.execute(db);
  await sql`alter table challenges add column key jsonb`.execute(db);
}
