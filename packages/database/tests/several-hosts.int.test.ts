import { connect } from '@orrery/database';
import { type ReplicatedPostgres, startReplicatedPostgres } from '@orrery/testing/servers';
import { type Kysely, sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { quiet } from './test-connection.js';

const folderOf = (url: string) => new URL(url).searchParams.get('host');
const socketOf = async (db: Kysely<{ notes: { text: string } }>) => {
  const { rows } = await sql<{
    folder: string;
  }>`select current_setting('unix_socket_directories') as folder`.execute(db);
  return rows[0]?.folder;
};

describe('an address with several hosts', () => {
  let postgres: ReplicatedPostgres;
  beforeAll(async () => {
    postgres = await startReplicatedPostgres();
  });
  afterAll(() => postgres?.[Symbol.asyncDispose]());

  const open = async (url = postgres.url) => {
    const database = await connect<{ notes: { text: string } }>({
      url,
      schema: 'public',
      applicationName: 'test',
      logger: quiet,
    });
    onTestFinished(() => database.close());
    return database;
  };

  it('says what all servers say', async () => {
    const [primary, standby] = [postgres.primary.url, postgres.standby.url].map(folderOf);
    const absent = `postgres://orrery@/absent?host=${primary},${standby}`;
    await expect(open(absent)).rejects.toThrow('has no such database: create it');
    const standbys = `postgres://orrery@/orrery?host=${standby},${standby}`;
    await expect(open(standbys)).rejects.toThrow('it is a standby');
  });

  it('leads to the one that takes writes, and to its successor once that one is gone', async () => {
    const { db } = await open();
    await sql`create table notes (text text not null)`.execute(db);
    await db.insertInto('notes').values({ text: 'before' }).execute();
    expect(await socketOf(db)).toBe(folderOf(postgres.primary.url));
    process.kill(postgres.primary.pid, 'SIGKILL');
    await postgres.standby.promote();
    // A connection to the old server may answer for a moment after the kill.
    await vi.waitFor(async () => expect(await socketOf(db)).toBe(folderOf(postgres.standby.url)));
    await db.insertInto('notes').values({ text: 'after' }).execute();
    const rows = await db.selectFrom('notes').selectAll().execute();
    expect(rows.map(({ text }) => text)).toEqual(['before', 'after']);
  });

  it('is refused at the start when no server takes writes', async () => {
    const nowhere = 'postgres://orrery@/orrery?host=/nowhere,/elsewhere';
    await expect(open(nowhere)).rejects.toThrow(/at \/nowhere,\/elsewhere\/orrery cannot be reached/);
  });
});
