import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * How far each journal is published, in place of an outbox row for each entry: all up to `journal_heads.published`. It has
 * no index, so that its updates stay on their page. Rows of the outbox are left by processes of the release before.
 */
export const published: Migration = {
  up: async (db: Kysely<unknown>) => {
    // The release before executes meanwhile, and all pending migrations are one transaction: who waits for a lock and holds
    // others would end in a deadlock and be refused. So their locks are taken first, all or none of them at a time.
    await sql`
      do $do$
      begin
        for attempt in 1..2000 loop
          begin
            perform set_config('lock_timeout', '100ms', true);
            lock table runtime.partitions, runtime.journal_heads, runtime.journal, runtime.deployments, runtime.bindings,
              runtime.claimed_schemas, runtime.runs, runtime.operator_pauses, runtime.payments, runtime.payment_totals,
              runtime.ai_usage;
            exit;
          exception when lock_not_available or deadlock_detected then
            perform pg_sleep(0.02);
          end;
        end loop;
        perform set_config('lock_timeout', '0', true);
      end
      $do$`.execute(db);
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
