import { transaction } from '@orrery/database';
import { retry } from '@orrery/service-kit';
import { sql } from 'kysely';
import type { Db, Trx } from '../../tables/schema.js';
import type { Waiting } from './move-news.js';

/** What executions want meanwhile queues behind a lock that is waited for, so it is waited for no longer, in milliseconds. */
const WAIT_MS = 100;
const PAUSE = { attempts: Number.POSITIVE_INFINITY, baseMs: 1000, maxMs: 1000 };

/** `lock_not_available` and `deadlock_detected` (PostgreSQL manual, appendix A). */
const LOCKED_OUT: ReadonlySet<unknown> = new Set(['55P03', '40P01']);
const isLockedOut = (error: unknown): boolean =>
  LOCKED_OUT.has((error as { code?: unknown } | null | undefined)?.code);

/**
 * Runs in one transaction what locks relations against all others, once nobody else holds them: a backup holds them for hours.
 * `check` throws what ends the wait.
 */
export function whenFree<T>(
  db: Db,
  relations: readonly string[],
  work: (trx: Trx) => Promise<T>,
  { clock, onNews }: Waiting,
  check: () => Promise<void> = async () => undefined,
): Promise<T> {
  const tryOnce = async (attempt: number) => {
    if (attempt > 1) {
      onNews?.({ kind: 'held', by: await holderOf(db, relations) });
      await check();
      await endAutovacuum(db, relations);
    }
    return inTime(db, WAIT_MS, work);
  };
  return retry(tryOnce, { ...PAUSE, retryable: isLockedOut }, { clock });
}

const inTime = <T>(db: Db, waitMs: number, work: (trx: Trx) => Promise<T>): Promise<T> =>
  transaction(
    db,
    async (trx) => {
      await sql.raw(`set local lock_timeout = ${waitMs}`).execute(trx);
      return await work(trx);
    },
    { attempts: 1 },
  );

/** Who has held one of them for longest, at this moment. */
async function holderOf(db: Db, relations: readonly string[]): Promise<string> {
  const { rows } = await sql<{ name: string; pid: number }>`
    select coalesce(nullif(a.application_name, ''), a.backend_type, 'a session') as name, a.pid
    from pg_locks l join pg_class c on c.oid = l.relation join pg_stat_activity a on a.pid = l.pid
    where l.granted and l.database = (select oid from pg_database where datname = current_database())
      and c.relnamespace = 'runtime'::regnamespace and c.relname = any(${[...relations]}) and a.pid <> pg_backend_pid()
    order by a.xact_start nulls last limit 1`.execute(db);
  const [first] = rows;
  return first ? `${first.name}, process ${first.pid}` : 'several, one after the other';
}

/** The server ends its own vacuum for one who waits for a second. Executions do not queue behind a lock of this mode. */
async function endAutovacuum(db: Db, relations: readonly string[]): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select relname as name from pg_class
    where relnamespace = 'runtime'::regnamespace and relkind = 'r' and relname = any(${[...relations]})`.execute(
    db,
  );
  if (rows.length === 0) return;
  const lock = `lock table ${rows.map(({ name }) => name).join(', ')} in share update exclusive mode`;
  await inTime(db, 3000, (trx) => sql.raw(lock).execute(trx)).catch((error: unknown) => {
    if (!isLockedOut(error)) throw error;
  });
}
