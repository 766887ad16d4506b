import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Codes that may still be exchanged for a token; an exchanged one is gone, whichever replica saw it. */
export const signInCodes: Migration = { up: createTable };

async function createTable(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table sign_in_codes (
      hash bytea primary key,
      account_id bigint not null references accounts (id),
      expires_at timestamptz not null
    )`.execute(db);
}
