import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** The index of lifecycle entries once more, without the entries of timers, of which a deployment may have many. */
export const lifecycleWithoutTimers: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create index journal_lifecycle_alone on runtime.journal (deployment_id, seq)
      where kind not in ('execution', 'instance_created', 'instance_updated', 'instance_deleted', 'timer_set', 'timer_cancelled')`.execute(
      db,
    );
  },
};
