import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The trace of the execution that a push is of, where it is recorded: what is sent to the chain continues it. */
export const pushTraces: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`alter table pushes add column traceparent text`.execute(db);
  },
};
