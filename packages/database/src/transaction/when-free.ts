import { type Clock, retry } from '@orrery/service-kit';
import { type Kysely, sql, type Transaction } from 'kysely';
import { transaction } from './transaction.js';

/** What others want meanwhile queues behind a lock that is waited for, so nobody waits longer for one, in milliseconds. */
export const LOCK_WAIT_MS = 100;
/** Between two tries, in milliseconds: from half of it to all. */
const PAUSE = { baseMs: 1000, maxMs: 1000 };

/** `lock_not_available` and `deadlock_detected` (PostgreSQL manual, appendix A). */
const LOCKED_OUT: ReadonlySet<unknown> = new Set(['55P03', '40P01']);

/** Another transaction held what this one needs: it was rolled back, and may succeed in a moment. */
export const isLockedOut = (error: unknown): boolean =>
  LOCKED_OUT.has((error as { code?: unknown } | null | undefined)?.code);

/** Tables and sequences of a schema; all of them without names. */
export interface Relations {
  readonly schema: string;
  readonly names?: readonly string[];
}

interface WhenFreeOptions {
  readonly clock: Clock;
  /** Default: without end. */
  readonly attempts?: number;
  /** Runs before each further try, with the number of those that failed. What it throws ends the tries. */
  readonly onHeld?: (failed: number) => void | Promise<void>;
}

/**
 * Runs what locks relations against all others once nobody else holds them, as a backup does for hours. Each try is a
 * transaction that waits for no lock longer than `LOCK_WAIT_MS` (`withLockWait`), and lets go of all that it held.
 */
export function whenFree<Schema, T>(
  db: Kysely<Schema>,
  relations: Relations,
  tryOnce: () => Promise<T>,
  { clock, attempts = Number.POSITIVE_INFINITY, onHeld }: WhenFreeOptions,
): Promise<T> {
  const tryAgain = async (attempt: number) => {
    if (attempt > 1) {
      await onHeld?.(attempt - 1);
      await endAutovacuum(db, relations);
    }
    return tryOnce();
  };
  return retry(tryAgain, { ...PAUSE, attempts, retryable: isLockedOut }, { clock });
}

/** One transaction, tried once, whose statements wait so long for a lock. */
export const withLockWait = <Schema, T>(
  db: Kysely<Schema>,
  waitMs: number,
  work: (trx: Transaction<Schema>) => Promise<T>,
): Promise<T> =>
  transaction(
    db,
    async (trx) => {
      await sql.raw(`set local lock_timeout = ${waitMs}`).execute(trx);
      return await work(trx);
    },
    { attempts: 1 },
  );

const isOneOf = ({ schema, names }: Relations) =>
  sql`c.relnamespace = ${`"${schema}"`}::regnamespace and (${names ?? null}::text[] is null or c.relname = any(${names ?? null}))`;

/** Longer than `deadlock_timeout`, a second by default. */
const VACUUM_ENDS_MS = 3000;

/**
 * The server ends its own vacuum of a table for one who waits for it for `deadlock_timeout`, which is longer than a try waits. So
 * this waits in its place: others do not queue behind a lock of this mode.
 */
async function endAutovacuum<Schema>(db: Kysely<Schema>, relations: Relations): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select c.oid::regclass::text as name from pg_class c
    where ${isOneOf(relations)} and c.relkind = 'r' and pg_has_role(c.relowner, 'usage')`.execute(db);
  if (rows.length === 0) return;
  const lock = `lock table ${rows.map(({ name }) => name).join(', ')} in share update exclusive mode`;
  await withLockWait(db, VACUUM_ENDS_MS, (trx) => sql.raw(lock).execute(trx)).catch((error: unknown) => {
    if (!isLockedOut(error)) throw error;
  });
}

/** Who has held one of them for longest, such as `pg_dump, process 4711`; `undefined` when nobody does now. */
export async function holderOf<Schema>(
  db: Kysely<Schema>,
  relations: Relations,
): Promise<string | undefined> {
  const { rows } = await sql<{ name: string; pid: number }>`
    select coalesce(nullif(a.application_name, ''), a.backend_type, 'a session') as name, a.pid
    from pg_locks l join pg_class c on c.oid = l.relation join pg_stat_activity a on a.pid = l.pid
    where l.granted and l.database in (0, (select oid from pg_database where datname = current_database()))
      and ${isOneOf(relations)} and a.pid <> pg_backend_pid()
    order by a.xact_start nulls last limit 1`.execute(db);
  return rows[0] && `${rows[0].name}, process ${rows[0].pid}`;
}
