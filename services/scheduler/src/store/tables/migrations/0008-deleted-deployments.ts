import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Says which deployments were deleted, so that their schedules can be removed once their ledgers are old. Those with
 * nothing bound are asked for again, since it is not known whether they were.
 */
export const deletedDeployments: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`alter table deployments add column is_deleted boolean not null default false`.execute(db);
    await sql`
      insert into pending_syncs (deployment, not_before)
      select d.address, now() from deployments d
      where exists (select from schedules s where s.deployment = d.address)
        and not exists (select from schedules s where s.deployment = d.address and s.binding_id is not null)
      on conflict do nothing`.execute(db);
  },
};
