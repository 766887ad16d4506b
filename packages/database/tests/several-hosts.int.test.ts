import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '@orrery/database';
import { startEmbeddedPostgres } from '@orrery/embedded-postgres';
import { startStandby } from '@orrery/testing/servers';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { quiet } from './test-connection.js';

const socketOf = (url: string) => new URL(url).searchParams.get('host');

describe('an address with several hosts', () => {
  const cleanUp: (() => Promise<unknown>)[] = [];
  let primary: Awaited<ReturnType<typeof startEmbeddedPostgres>>;
  let standby: Awaited<ReturnType<typeof startStandby>>;
  let address: string;
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'orrery-hosts-'));
    cleanUp.push(() => rm(folder, { recursive: true, force: true }));
    // Started by root, the servers run as another user.
    await chmod(folder, 0o711);
    const dataDirectory = join(folder, 'one');
    primary = await startEmbeddedPostgres({ dataDirectory });
    cleanUp.push(primary.stop);
    standby = await startStandby({ url: primary.url, dataDirectory }, join(folder, 'two'));
    cleanUp.push(standby.stop);
    const hosts = [standby.url, primary.url].map(socketOf).join(',');
    address = `postgres://orrery@/orrery?host=${hosts}&target_session_attrs=read-write`;
  });
  afterAll(async () => {
    for (const release of cleanUp.reverse()) await release();
  });

  const open = async (url = address) => {
    const database = await connect<{ notes: { text: string } }>({
      url,
      schema: 'public',
      applicationName: 'test',
      logger: quiet,
    });
    onTestFinished(() => database.close());
    return database;
  };

  it('leads to the one that takes writes, and to its successor once that one is gone', async () => {
    const { db } = await open();
    await sql`create table notes (text text not null)`.execute(db);
    await db.insertInto('notes').values({ text: 'before' }).execute();
    process.kill(primary.pid, 'SIGKILL');
    await expect(db.insertInto('notes').values({ text: 'between' }).execute()).rejects.toThrow();
    await standby.promote();
    await vi.waitFor(() => db.insertInto('notes').values({ text: 'after' }).execute(), { timeout: 10_000 });
    const rows = await db.selectFrom('notes').selectAll().execute();
    expect(rows.map(({ text }) => text)).toEqual(['before', 'after']);
  });

  it('says of each why it cannot be used', async () => {
    const dead = `postgres://orrery@/orrery?host=/nowhere,${socketOf(primary.url)}`;
    await expect(open(dead)).rejects.toThrow(/cannot be reached/);
  }, 20_000);
});
