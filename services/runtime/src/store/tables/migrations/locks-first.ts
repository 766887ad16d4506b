import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** With pauses of 0.5 s: four minutes, and longer where several tables are waited for. */
const TRIES = 400;

/**
 * Takes what migrations and executions both lock, all of it or nothing, in the order in which a commit does: 0.1 s of waiting
 * for one table ends a try. Once in a transaction, and not in a database that is new. A migration that went on without them
 * would wait without bound, with all commits behind it.
 */
const locks = (tries: number) => `
  do $do$
  declare taken boolean := false;
  begin
    if to_regclass('runtime.ai_usage') is null or current_setting('orrery.locked', true) = 'yes' then return; end if;
    for attempt in 1..${tries} loop
      begin
        perform set_config('lock_timeout', '100ms', true);
        lock table runtime.partitions, runtime.journal_heads, runtime.journal, runtime.deployments, runtime.bindings,
          runtime.claimed_schemas, runtime.runs, runtime.operator_pauses, runtime.payments, runtime.payment_totals,
          runtime.ai_usage;
        taken := true;
        exit;
      exception when lock_not_available or deadlock_detected then
        perform pg_sleep(0.5);
      end;
    end loop;
    if not taken then
      raise exception 'tables are locked by another transaction' using errcode = 'lock_not_available';
    end if;
    perform set_config('lock_timeout', '0', true);
    perform set_config('orrery.locked', 'yes', true);
  end
  $do$`;

/**
 * The release before executes while this one migrates, and all pending migrations are one transaction: where one of them waited
 * for a lock while an earlier one held others, executions ended in deadlocks and were refused. So whichever is the first takes
 * the locks of all.
 */
export const locksFirst = (migrations: Record<string, Migration>, tries = TRIES): Record<string, Migration> =>
  Object.fromEntries(
    Object.entries(migrations).map(([name, { up }]) => [
      name,
      {
        up: async (db) => {
          await sql.raw(locks(tries)).execute(db);
          await up(db);
        },
      },
    ]),
  );
