import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Challenges that may still be answered; an answered one is gone, whichever replica saw it. */
export const signIn: Migration = { up: createTables };

async function createTables(db: Kysely<unknown>): Promise<void> {
  await sql`
    create table challenges (
      wallet text not null,
      message text not null,
      expires_at timestamptz not null,
      primary key (wallet, message)
    )`.execute(db);
  await sql`create index challenges_by_expiry on challenges (expires_at)`.execute(db);
}
