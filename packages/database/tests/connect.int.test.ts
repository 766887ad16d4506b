import { createServer } from 'node:net';
import type { JsonObject } from '@orrery/contracts';
import { connect, jsonb } from '@orrery/database';
import { type Clock, listen, StartupError } from '@orrery/service-kit';
import { sql } from 'kysely';
import { describe, expect, it, onTestFinished } from 'vitest';
import { newDatabaseUrl, open, openItems, quiet } from './test-connection.js';

/** Does not wait, but counts. */
function countingClock() {
  const slept: number[] = [];
  const sleep = async (ms: number) => {
    slept.push(ms);
  };
  return { clock: { now: () => 0, monotonic: () => 0, sleep } satisfies Clock, slept };
}

const connectTo = (url: string, clock: Clock) =>
  connect({ url, schema: 'rooms', applicationName: 'test', logger: quiet, clock });

const ABSENT_USER = 'nobody_of_this_name';

describe('connect', () => {
  it('finds unqualified names in the schema of the service', async () => {
    const { db } = await openItems();
    const found = await sql<{ at: string }>`select to_regclass('rooms.items')::text as at`.execute(db);
    expect(found.rows).toEqual([{ at: 'items' }]);
  });

  it('gives bigint as number, timestamptz as Date and jsonb as it was written, arrays too', async () => {
    const { db } = await openItems();
    const at = new Date('2026-03-04T05:06:07.089Z');
    const tags = [1, 'a', { b: [null] }];
    await db
      .insertInto('items')
      .values({ id: 9_007_199_254_740_991, tags: jsonb(tags), at })
      .execute();
    const row = await db.selectFrom('items').selectAll().executeTakeFirstOrThrow();
    expect(row).toEqual({ id: 9_007_199_254_740_991, tags, at });
  });

  it('gives the keys of jsonb as they were written, whatever keys were read before', async () => {
    const { db } = await openItems();
    const keys = async (value: JsonObject) => {
      const { rows } = await sql<{ it: object }>`select ${JSON.stringify(value)}::jsonb as it`.execute(db);
      return rows.flatMap(({ it }) => Object.keys(it));
    };
    expect(await keys({ '!': [], '\\': 1 })).toEqual(['!', '\\']);
    expect(await keys({ '!': 1, '"': 1 })).toEqual(['!', '"']);
  });

  it('refuses to round a bigint', async () => {
    const { db } = await openItems();
    await expect(sql`select 9007199254740993::bigint as big`.execute(db)).rejects.toThrow(
      'not a safe integer',
    );
    expect((await sql`select 1 as one`.execute(db)).rows).toEqual([{ one: 1 }]);
  });

  it('sets limits on statements, locks and idle transactions', async () => {
    const { db } = await openItems({
      statementTimeoutMs: 1234,
      lockTimeoutMs: 567,
      idleInTransactionTimeoutMs: 8901,
    });
    const settings = sql`select current_setting('statement_timeout') as statement, current_setting('lock_timeout') as lock,
      current_setting('idle_in_transaction_session_timeout') as idle, current_setting('application_name') as name`;
    const { rows } = await settings.execute(db);
    expect(rows).toEqual([{ statement: '1234ms', lock: '567ms', idle: '8901ms', name: 'test' }]);
  });

  it('takes settings from the address, and its own before them', async () => {
    const url = new URL(await newDatabaseUrl());
    url.searchParams.set('options', '-c work_mem=5MB -c search_path=public -c lock_timeout=1');
    url.searchParams.set('application_name', 'other');
    const { db } = await open<unknown>(url.href, { lockTimeoutMs: 0 });
    const settings = sql`select current_setting('search_path') as path, current_setting('work_mem') as memory,
      current_setting('lock_timeout') as lock, current_setting('application_name') as name`;
    const { rows } = await settings.execute(db);
    expect(rows).toEqual([{ path: 'rooms', memory: '5MB', lock: '0', name: 'test' }]);
  });

  it('sends a bound of 0, in place of that of the role', async () => {
    const url = await newDatabaseUrl();
    const bounds = { statementTimeoutMs: 0, lockTimeoutMs: 0, idleInTransactionTimeoutMs: 0 };
    const { pool } = await open<unknown>(url);
    const names = ['statement_timeout', 'lock_timeout', 'idle_in_transaction_session_timeout'];
    const database = new URL(url).pathname.slice(1);
    for (const name of names)
      await pool.query(`alter role current_user in database ${database} set ${name} = '1h'`);
    const { pool: unbounded } = await open<unknown>(url, bounds);
    for (const name of names) expect((await unbounded.query(`show ${name}`)).rows).toEqual([{ [name]: '0' }]);
  });

  it('refuses an address with a bound of statements, and says what to do', async () => {
    const connecting = connectTo(`${await newDatabaseUrl()}&statement_timeout=60000`, countingClock().clock);
    await expect(connecting).rejects.toThrow(StartupError);
    await expect(connecting).rejects.toThrow(
      'DATABASE_URL cannot be used: Orrery sets statement_timeout itself, so leave it out.',
    );
  });

  it('names the host and never the password of a server that cannot be reached', async () => {
    const url = 'postgres://orrery:hunter2@127.0.0.1:1/orrery';
    const connecting = connectTo(url, countingClock().clock);
    const error = await connecting.catch((caught: unknown) => caught as Error);
    expect(error).toBeInstanceOf(StartupError);
    expect((error as Error).message).toBe(
      'PostgreSQL at 127.0.0.1:1/orrery cannot be reached (ECONNREFUSED): start it or correct DATABASE_URL.',
    );
  });

  it('gives a server that does not answer yet a few tries', async () => {
    const hangingUp = createServer((socket) => socket.destroy());
    const port = await listen(hangingUp, { host: '127.0.0.1', port: 0, variable: 'PORT' });
    onTestFinished(() => void hangingUp.close());
    const { clock, slept } = countingClock();
    await expect(connectTo(`postgres://orrery@127.0.0.1:${port}/orrery`, clock)).rejects.toThrow(
      StartupError,
    );
    expect(slept).toHaveLength(5);
  });

  it('names what is used up where the server has no connection left', async () => {
    const url = new URL(await newDatabaseUrl());
    const { pool } = await open<unknown>(url.href);
    url.username = `guest_of${url.pathname.replace('/', '_')}`;
    await pool.query(`create role ${url.username} login connection limit 0`);
    onTestFinished(async () => void (await pool.query(`drop role ${url.username}`)));
    const { clock, slept } = countingClock();
    await expect(connectTo(url.href, clock)).rejects.toThrow(
      /has no connection left \(too many connections for role "\w+"\): raise its max_connections/,
    );
    expect(slept).toHaveLength(5);
  });

  it.each([
    ['the database does not exist', { pathname: '/absent' }, 'has no such database: create it'],
    ['the user does not exist', { username: ABSENT_USER }, 'refuses the user: correct the user'],
  ])('does not try again when %s', async (_, mistake, message) => {
    const url = Object.assign(new URL(await newDatabaseUrl()), mistake);
    const { clock, slept } = countingClock();
    await expect(connectTo(url.href, clock)).rejects.toThrow(message);
    expect(slept).toEqual([]);
  });
});
