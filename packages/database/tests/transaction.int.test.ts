import {
  CommitRefused,
  ConnectionLost,
  type Database,
  OutcomeUnknown,
  toServiceError,
  transaction,
} from '@orrery/database';
import { type Kysely, sql, type Transaction } from 'kysely';
import { describe, expect, it } from 'vitest';
import { type Items, open, openItems, terminate } from './test-connection.js';

const insert = (db: Kysely<Items>, id: number) =>
  db.insertInto('items').values({ id, tags: null, at: null }).execute();
const ids = async ({ db }: Database<Items>) =>
  (await db.selectFrom('items').select('id').orderBy('id').execute()).map(({ id }) => id);

async function backendOf(trx: Kysely<Items>): Promise<number> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx);
  return rows[0]?.pid ?? 0;
}

async function failureOf(work: Promise<unknown>): Promise<unknown> {
  return work.then(
    () => 'it succeeded',
    (error: unknown) => error,
  );
}

describe('transaction', () => {
  it('commits what `fn` has done, or nothing', async () => {
    const database = await openItems();
    expect(await transaction(database.db, async (trx) => (await insert(trx, 1)).length)).toBe(1);
    const failing = transaction(database.db, async (trx) => {
      await insert(trx, 2);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await ids(database)).toEqual([1]);
  });

  it('tries again after a serialization failure, and only a few times', async () => {
    const database = await openItems();
    await insert(database.db, 1);
    const change = (db: Kysely<Items>) => db.updateTable('items').set({ at: new Date() }).execute();
    const overtaken = (times: number) => {
      let runs = 0;
      const work = async (trx: Transaction<Items>) => {
        runs += 1;
        await trx.selectFrom('items').select('id').execute();
        if (runs <= times) await change(database.db);
        await change(trx);
        return runs;
      };
      return transaction(database.db, work, { isolation: 'repeatable read', attempts: 3 });
    };
    expect(await overtaken(2)).toBe(3);
    expect(toServiceError(await failureOf(overtaken(3))).code).toBe('overloaded');
  });

  it('does not take a swallowed failure for a commit', async () => {
    const database = await openItems();
    const swallowing = transaction(database.db, async (trx) => {
      await insert(trx, 1);
      await insert(trx, 1).catch(() => undefined);
    });
    await expect(swallowing).rejects.toThrow(CommitRefused);
    expect(await ids(database)).toEqual([]);
  });

  it('knows that nothing was applied when the connection is lost before COMMIT', async () => {
    const database = await openItems();
    const cut = transaction(database.db, async (trx) => {
      await insert(trx, 1);
      await terminate(database, await backendOf(trx));
      await insert(trx, 2);
    });
    const error = await failureOf(cut);
    expect(error).toBeInstanceOf(ConnectionLost);
    expect(toServiceError(error)).toMatchObject({ code: 'unavailable', facts: {} });
    expect(await ids(database)).toEqual([]);
  });

  it('knows that it does not know when the connection is lost during COMMIT', async () => {
    const database = await openItems();
    await sql`create function slow() returns trigger language plpgsql as $$ begin perform pg_sleep(30); return null; end $$`.execute(
      database.db,
    );
    await sql`create constraint trigger slow after insert on items deferrable initially deferred
      for each row execute function slow()`.execute(database.db);
    let backend = 0;
    const cut = failureOf(
      transaction(database.db, async (trx) => {
        backend = await backendOf(trx);
        await insert(trx, 1);
      }),
    );
    await committing(database, () => backend);
    await terminate(database, backend);
    const error = await cut;
    expect(error).toBeInstanceOf(OutcomeUnknown);
    expect(toServiceError(error)).toMatchObject({ code: 'unavailable', facts: { outcome: 'unknown' } });
    expect(await ids(database)).toEqual([]);
  });

  it('maps a cancelled statement and a wait for a lock to `deadline_exceeded`', async () => {
    const database = await openItems();
    const bounded = await open<Items>(database.pool.options.connectionString ?? '', {
      statementTimeoutMs: 300,
      lockTimeoutMs: 50,
    });
    const slow = await failureOf(sql`select pg_sleep(600)`.execute(bounded.db));
    expect(toServiceError(slow).code).toBe('deadline_exceeded');
    const waiting = transaction(database.db, async (trx) => {
      await sql`lock table items`.execute(trx);
      return failureOf(insert(bounded.db, 1));
    });
    expect(toServiceError(await waiting).code).toBe('deadline_exceeded');
  });

  it('goes on with new connections after all were lost', async () => {
    const database = await openItems();
    await Promise.all([1, 2, 3].map((id) => insert(database.db, id)));
    await sql`select pg_terminate_backend(pid, 5000) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`.execute(database.db);
    expect(await ids(database)).toEqual([1, 2, 3]);
  });
});

/** Waits until the backend is busy with its COMMIT. */
async function committing(database: Database<Items>, backend: () => number): Promise<void> {
  const busy = async () => {
    const query = sql`select from pg_stat_activity where pid = ${backend()} and state = 'active' and query = 'commit'`;
    return (await query.execute(database.db)).rows.length > 0;
  };
  while (!(await busy()));
}
