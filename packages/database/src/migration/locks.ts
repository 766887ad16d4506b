import type pg from 'pg';

/**
 * A migration waits for no lock longer than this, in milliseconds: what calls want meanwhile queues behind it. It then lets
 * go of all that it holds and begins anew.
 */
const WAIT_MS = 100;
/** With pauses of 0.5 to 1 s between them: four minutes. */
export const LOCK_TRIES = 300;
export const LOCK_PAUSE = { baseMs: 1000, maxMs: 1000 };

/** `lock_not_available` and `deadlock_detected` (PostgreSQL manual, appendix A). */
const LOCKED_OUT: ReadonlySet<unknown> = new Set(['55P03', '40P01']);

/** Another transaction held what the migration needs: it was rolled back, and may succeed in a moment. */
export const isLockedOut = (error: unknown): boolean =>
  LOCKED_OUT.has((error as { code?: unknown } | null | undefined)?.code);

export const boundLockWaits = (pool: pg.Pool) => pool.query(`set lock_timeout = ${WAIT_MS}`);

/**
 * The server ends its own vacuum of a table for one who waits for it for `deadlock_timeout`, which is longer than a migration
 * waits. So this waits in its place: calls do not queue behind a lock of this mode.
 */
export const endAutovacuum = (pool: pg.Pool, schema: string) =>
  pool.query(`
    set lock_timeout = '3s';
    do $do$
    declare own regclass;
    begin
      for own in select oid from pg_class
        where relnamespace = '"${schema}"'::regnamespace and relkind = 'r' and pg_has_role(relowner, 'usage')
      loop
        execute format('lock table %s in share update exclusive mode', own);
      end loop;
    end
    $do$`);

/** Who has held tables of the schema for longest, such as `pg_dump, process 4711`; `undefined` when nobody does now. */
export async function holderOf(pool: pg.Pool, schema: string): Promise<string | undefined> {
  const { rows } = await pool.query<{ name: string; pid: number }>(
    `select coalesce(nullif(a.application_name, ''), a.backend_type, 'a session') as name, a.pid
     from pg_locks l join pg_class c on c.oid = l.relation join pg_stat_activity a on a.pid = l.pid
     where l.granted and l.database = (select oid from pg_database where datname = current_database())
       and c.relnamespace = $1::regnamespace and a.pid <> pg_backend_pid()
     order by a.xact_start nulls last limit 1`,
    [`"${schema}"`],
  );
  return rows[0] && `${rows[0].name}, process ${rows[0].pid}`;
}
