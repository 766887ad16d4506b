import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * `acknowledged_occurrences`: how far each schedule's occurrences are acknowledged. `kind` is `due` with a due time in
 * milliseconds, or `run` with the number of a run on request. What lies at or before `until` and has no key any more is
 * never executed.
 */
export const acknowledgedOccurrences: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`
      create table runtime.acknowledged_occurrences (
        deployment text not null,
        event text not null,
        kind text not null,
        until bigint not null,
        primary key (deployment, event, kind)
      )`.execute(db);
  },
};
