import { sql } from 'kysely';
import type { Migration } from 'kysely/migration';

/** What migrations and executions both lock, in the order in which a commit does. Not in a database that is new. */
const LOCKS = `
  do $do$
  begin
    if to_regclass('runtime.ai_usage') is null then return; end if;
    lock table runtime.partitions, runtime.journal_heads, runtime.journal, runtime.deployments, runtime.bindings,
      runtime.claimed_schemas, runtime.runs, runtime.operator_pauses, runtime.payments, runtime.payment_totals,
      runtime.ai_usage;
  end
  $do$`;

/**
 * The release before executes while this one migrates, and all pending migrations are one transaction: where one of them waited
 * for a lock while an earlier one had held others for a second, executions ended in deadlocks and were refused. So whichever is
 * the first takes the locks of all; where it does not get one soon, `migrate` begins anew.
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
