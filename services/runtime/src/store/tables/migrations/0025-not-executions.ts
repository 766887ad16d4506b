import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Finds what is no execution among the entries that changed an instance. Executions are not in it, so they pay nothing. */
export const notExecutions: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create index journal_not_executions on runtime.journal (deployment_id, seq) where kind <> 'execution'`.execute(
      db,
    );
  },
};
