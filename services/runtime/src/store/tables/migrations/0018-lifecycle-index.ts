import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** Finds a deployment's lifecycle entries among its executions. Executions and instance writes are not in it. */
export const lifecycleIndex: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create index journal_lifecycle on runtime.journal (deployment_id, seq)
      where kind not in ('execution', 'instance_created', 'instance_updated', 'instance_deleted')`.execute(
      db,
    );
  },
};
