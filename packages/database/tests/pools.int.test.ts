import { createServer } from 'node:net';
import {
  ConnectionLost,
  type Connections,
  PoolExhausted,
  prepared,
  toCallError,
  toServiceError,
} from '@orrery/database';
import { listen } from '@orrery/service-kit';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openPool } from '../src/connection/pool.js';
import { type Items, openItems, quiet, terminate } from './test-connection.js';

type Limits = Parameters<Awaited<ReturnType<typeof openItems>>['beside']>[0];

async function openBeside(limits: Limits) {
  const database = await openItems({ maxConnections: 2 });
  const connections = database.beside(limits);
  onTestFinished(() => connections.close());
  return { database, ...connections };
}

/** Takes a connection until it is called. */
async function occupy({ pool }: Pick<Connections<Items>, 'pool'>): Promise<() => void> {
  const client = await pool.connect();
  return () => client.release();
}

const select = ({ db }: Pick<Connections<Items>, 'db'>) => db.selectFrom('items').select('id').execute();
const backendOf = async ({ db }: Pick<Connections<Items>, 'db'>) =>
  (await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(db)).rows[0]?.pid ?? 0;

describe('connections beside others', () => {
  it('wait for none of the others', async () => {
    const { database, ...beside } = await openBeside({ maxConnections: 1 });
    onTestFinished(await occupy(database));
    onTestFinished(await occupy(database));
    expect(await select(beside)).toEqual([]);
    onTestFinished(await occupy(beside));
    const other = database.beside({ maxConnections: 1 });
    onTestFinished(() => other.close());
    expect(await select(other)).toEqual([]);
  });

  it('refuse a statement that has waited for too long', async () => {
    const { database, ...patient } = await openBeside({ maxConnections: 1, maxWaitMs: 100_000 });
    const hasty = database.beside({ maxConnections: 1, maxWaitMs: 500 });
    onTestFinished(() => hasty.close());
    onTestFinished(await occupy(hasty));
    const leave = await occupy(patient);
    let isOver = false;
    const patiently = select(patient).finally(() => {
      isOver = true;
    });
    const error = await select(hasty).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(PoolExhausted);
    expect(toServiceError(error).code).toBe('overloaded');
    // Each waits as long as its own connections say.
    expect(isOver).toBe(false);
    leave();
    expect(await patiently).toEqual([]);
  });

  it('write nothing when they are for reading', async () => {
    const { database: _, db } = await openBeside({ readOnly: true });
    await expect(db.insertInto('items').values({ id: 1, tags: null, at: null }).execute()).rejects.toThrow(
      'read-only transaction',
    );
  });

  it('plan a prepared statement once if they are told so', async () => {
    const { database: _, pool } = await openBeside({ maxConnections: 1, plansOnce: true });
    const read = { name: 'one', text: 'select id from items where id = $1' };
    for (const id of [1, 2, 3]) await pool.query({ ...read, values: [id] });
    const plans = await pool.query(
      `select generic_plans::int, custom_plans::int from pg_prepared_statements where name = 'one'`,
    );
    expect(plans.rows).toEqual([{ generic_plans: 3, custom_plans: 0 }]);
  });

  it('give a connection up whose statement no longer fits its table', async () => {
    const { db } = await openBeside({ maxConnections: 1 });
    const read = prepared<{ id: number }>('stale', 'select * from items where id = $1');
    await read(db, [1]);
    await sql`alter table items add column newer int`.execute(db);
    await expect(read(db, [1])).rejects.toThrow('cached plan must not change result type');
    expect(await read(db, [1])).toEqual([]);
  });

  it('read once more on another connection when the first one turns out to be lost', async () => {
    const { database, ...beside } = await openBeside({ readOnly: true });
    // It waits for a lock that the test holds until its first connection is lost.
    const lock = await database.pool.connect();
    await lock.query('select pg_advisory_lock(1)');
    const reading = sql<{ one: number }>`select 1 as one, pg_advisory_lock_shared(1)`.execute(beside.db);
    const backend = sql<{ pid: number }>`
      select pid from pg_stat_activity where query like 'select 1 as one%' and wait_event_type = 'Lock'`;
    await expect.poll(async () => (await backend.execute(database.db)).rows[0]?.pid).toBeGreaterThan(0);
    const pid = (await backend.execute(database.db)).rows[0]?.pid ?? 0;
    await terminate(database, pid);
    await lock.query('select pg_advisory_unlock(1)');
    lock.release();
    expect((await reading).rows).toMatchObject([{ one: 1 }]);
    expect(await backendOf(beside)).not.toBe(pid);
  });

  it('say that nothing was applied when reading fails for good', async () => {
    const { database, ...beside } = await openBeside({ readOnly: true });
    const lost = beside.db.transaction().execute(async (trx) => {
      await terminate(database, await backendOf({ db: trx }));
      await trx.selectFrom('items').select('id').execute();
    });
    const error = await lost.catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionLost);
    expect(toServiceError(error)).toMatchObject({ code: 'unavailable', facts: {} });
  });
});

describe('connections that the server refuses', () => {
  const errorOf = (work: Promise<unknown>): Promise<unknown> =>
    work.then(
      () => 'no error',
      (error: unknown) => error,
    );

  it('are those of a database that is away, however they are used', async () => {
    const { database, ...beside } = await openBeside({});
    const name = sql<{ name: string }>`select current_database() as name`;
    const [{ name: own } = { name: '' }] = (await name.execute(database.db)).rows;
    // A database cannot refuse connections from within.
    const other = await openItems();
    await sql`alter database ${sql.id(own)} with allow_connections false`.execute(other.db);
    const works = [select(beside), beside.pool.query('select 1'), beside.pool.connect()];
    for (const error of await Promise.all(works.map(errorOf)))
      expect(toCallError(error)).toMatchObject({
        code: 'unavailable',
        message: 'The database is away.',
      });
  });

  // Each session begins with these files of its database.
  it.each([
    ['58P01', 'is missing', 'pg_filenode.map', 'rm'],
    ['XX001', 'is damaged', 'pg_filenode.map', 'truncate --size 0'],
    ['22023', 'is missing', 'PG_VERSION', 'rm'],
  ])('are so whatever its code: %s where a file %s (%s)', async (code, _, file, spoil) => {
    const { database, ...beside } = await openBeside({});
    const oid = sql<{ oid: number }>`select oid from pg_database where datname = current_database()`;
    const path = `base/${(await oid.execute(database.db)).rows[0]?.oid}/${file}`;
    const { db } = await openItems();
    const onServer = (command: string) =>
      sql.raw(`copy (select) to program 'cat > /dev/null; ${command}'`).execute(db);
    await onServer(`cp -p ${path} ${path}.whole; ${spoil} ${path}`);
    onTestFinished(async () => void (await onServer(`mv ${path}.whole ${path}`)));
    const works = [select(beside), beside.pool.query('select 1'), beside.pool.connect()];
    for (const error of await Promise.all(works.map(errorOf))) {
      expect(error).toMatchObject({ code });
      expect(toServiceError(error)).toMatchObject({ code: 'unavailable' });
      expect(toCallError(error)).toMatchObject({ code: 'unavailable', message: 'The database is away.' });
    }
  });

  const openAt = (url: string) => {
    const pool = openPool({ url, schema: 'rooms', applicationName: 'test', logger: quiet });
    onTestFinished(() => pool.end());
    return pool;
  };

  it.each([
    ['no server listens', 'postgres://u@127.0.0.1:1/none'],
    ['none of several servers listens', 'postgres://u@127.0.0.1:1,127.0.0.1:2/none'],
  ])('are so where %s', async (_, url) => {
    const pool = openAt(url);
    const works = [pool.query('select 1'), pool.connect()];
    for (const error of await Promise.all(works.map(errorOf)))
      expect(toCallError(error)).toMatchObject({ code: 'unavailable' });
  });

  it('are so where the server hangs up before the session has begun', async () => {
    const hangingUp = createServer((socket) => socket.once('data', () => socket.destroy()));
    const port = await listen(hangingUp, { host: '127.0.0.1', port: 0, variable: 'PORT' });
    onTestFinished(() => void hangingUp.close());
    const pool = openAt(`postgres://u@127.0.0.1:${port}/none`);
    const works = [pool.query('select 1'), pool.connect()];
    for (const error of await Promise.all(works.map(errorOf))) {
      expect(toServiceError(error).code).toBe('unavailable');
      expect(toServiceError(error).facts).toEqual({});
    }
  });
});
