import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/**
 * Takes what migrations and executions both lock, all of it or nothing, in the order in which a commit does: 0.1 s of waiting
 * for one table ends a try. Once in a transaction, and not in a database that is new.
 */
const LOCKS = `
  do $do$
  begin
    if to_regclass('runtime.ai_usage') is null or current_setting('orrery.locked', true) = 'yes' then return; end if;
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
    perform set_config('orrery.locked', 'yes', true);
  end
  $do$`;

/**
 * The release before executes while this one migrates, and all pending migrations are one transaction: where one of them waited
 * for a lock while an earlier one held others, executions ended in deadlocks and were refused. So whichever is the first takes
 * the locks of all.
 */
export const locksFirst = (migrations: Record<string, Migration>): Record<string, Migration> =>
  Object.fromEntries(
    Object.entries(migrations).map(([name, { up }]) => [
      name,
      {
        up: async (db) => {
          await sql.raw(LOCKS).execute(db);
          await up(db);
        },
      },
    ]),
  );
