import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * How far each journal is published, in place of an outbox row for each entry: all up to `journal_heads.published`. It has
 * no index, so that its updates stay on their page. Rows of the outbox are left by processes of the release before.
 */
export const published: Migration = {
  up: async (db: Kysely<unknown>) => {
    await sql`alter table runtime.journal_heads add column published bigint not null default 0`.execute(db);
    await sql`update runtime.journal_heads set published = seq`.execute(db);
    await sql`
      update runtime.journal_heads h set published = w.first - 1
      from (
        select d.id, min(o.ordering_seq) as first
        from runtime.outbox o join runtime.deployments d on d.address = o.ordering_key group by d.id
      ) w where w.id = h.deployment_id`.execute(db);
  },
};
