import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * When deployments were last synced, and which of the hints a sync has covered. Only drafts change, so only they are looked
 * up by version and event: each index of all schedules would cost every occurrence a write.
 */
export const syncs: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`alter table deployments add column synced_at timestamptz(3)`.execute(db);
    await sql`drop index schedules_of_version, schedules_of_event, schedules_of_draft`.execute(db);
    await sql`create index schedules_of_draft on schedules (version_id, deployment) where is_draft`.execute(
      db,
    );
    await sql`create index schedules_of_draft_event on schedules (world_id, event) where is_draft`.execute(
      db,
    );
    await sql`alter table pending_syncs add column done bigint not null default 0`.execute(db);
  },
};
