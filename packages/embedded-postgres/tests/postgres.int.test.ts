import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartupError } from '@orrery/service-kit';
import { Client } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished, test, vi } from 'vitest';
import { type EmbeddedPostgresOptions, findRunningPostgres, startEmbeddedPostgres } from '../src/index.js';
import { commandLine } from '../src/process/process-facts.js';
import { holdPostgres } from './hold-postgres.js';

let seedFolder: string;
let folder: string;
let dataDirectory: string;

beforeAll(async () => {
  seedFolder = await mkdtemp(join(tmpdir(), 'orrery-launch-'));
  await (await startEmbeddedPostgres({ dataDirectory: join(seedFolder, 'postgres') })).stop();
});
afterAll(() => rm(seedFolder, { recursive: true, force: true }));

beforeEach(async ({ onTestFinished }) => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-launch-'));
  dataDirectory = join(folder, 'postgres');
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

/** The data directory of an earlier start, without waiting for one; tests that use it leave nothing running. */
const reuseEarlierData = () => {
  dataDirectory = join(seedFolder, 'postgres');
};

async function start(options: Partial<EmbeddedPostgresOptions> = {}) {
  const server = await startEmbeddedPostgres({ dataDirectory, ...options });
  onTestFinished(() => server.stop());
  return server;
}

async function query(url: string, sql: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client
    .query(sql)
    .then(({ rows }) => rows)
    .finally(() => client.end());
}

const gone = (pid: number) =>
  vi.waitFor(async () => expect(await commandLine(pid)).toBe(''), { interval: 20 });

const end = async (child: ChildProcess) => {
  const exit = once(child, 'exit');
  child.kill('SIGKILL');
  await exit;
};

test('the first start makes a durable cluster that only its socket leads to', async () => {
  const { url } = await start();
  const shown = ['fsync', 'synchronous_commit', 'listen_addresses', 'server_encoding', 'log_min_messages'];
  const values = await Promise.all(shown.map(async (name) => (await query(url, `SHOW ${name}`))[0][name]));
  expect(values).toEqual(['on', 'on', '', 'UTF8', 'log']);
  expect((await stat(dataDirectory)).mode & 0o777).toBe(0o700);
  expect(await query(url, 'SELECT current_user, datname, datctype FROM pg_database')).toContainEqual({
    current_user: 'orrery',
    datname: 'orrery',
    datctype: 'C.UTF-8',
  });
});

test('a later start reopens the data, and what another database name asks for is made', async () => {
  reuseEarlierData();
  const first = await start();
  await query(first.url, 'CREATE TABLE kept_by_stop AS SELECT 7 AS n');
  await first.stop();
  await first.stop();
  const second = await start({ database: 'Ünother "one"', settings: { fsync: 'off' } });
  expect(await query(second.url, 'SHOW fsync')).toEqual([{ fsync: 'off' }]);
  expect(await query(first.url, 'SELECT n FROM kept_by_stop')).toEqual([{ n: 7 }]);
});

test('the server ends with a killed process, and the next start recovers', async () => {
  reuseEarlierData();
  const { child, url, pid } = await holdPostgres(dataDirectory);
  await query(url, 'CREATE TABLE kept AS SELECT 7 AS n');
  await end(child);
  await gone(pid);
  expect(await query((await start()).url, 'SELECT n FROM kept')).toEqual([{ n: 7 }]);
});

test.runIf(process.platform === 'linux')(
  'an orphan whose watchdog was killed too is ended and followed',
  async () => {
    reuseEarlierData();
    const { child, url, pid } = await holdPostgres(dataDirectory);
    await query(url, 'CREATE TABLE kept_by_orphan AS SELECT 7 AS n');
    process.kill(await watchdogOf(pid), 'SIGKILL');
    await end(child);
    expect(await commandLine(pid)).toContain(dataDirectory);
    const server = await start();
    expect(await commandLine(pid)).toBe('');
    expect(await query(server.url, 'SELECT n FROM kept_by_orphan')).toEqual([{ n: 7 }]);
  },
);

async function watchdogOf(pid: number): Promise<number> {
  for (const entry of await readdir('/proc')) {
    if (/orrery-watchdog (\d+)/.exec(await commandLine(Number(entry)))?.[1] === String(pid))
      return Number(entry);
  }
  throw new Error('no watchdog');
}

test('a crashed server whose pid now belongs to a stranger: the stranger is left alone', async () => {
  reuseEarlierData();
  const { uid } = await stat(dataDirectory);
  const stranger = spawn('sleep', ['60'], uid === process.getuid?.() ? {} : { uid });
  onTestFinished(() => end(stranger));
  const stale = `${stranger.pid}\n${dataDirectory}\n1700000000\n5432\n${dataDirectory}\n\n   123456    654321\nready   \n`;
  await writeFile(join(dataDirectory, 'postmaster.pid'), stale, { mode: 0o600 });
  await start();
  expect(stranger.exitCode ?? stranger.signalCode).toBeNull();
});

test('an empty pid file, as a power cut leaves it, does not prevent the start', async () => {
  reuseEarlierData();
  await writeFile(join(dataDirectory, 'postmaster.pid'), '');
  await start();
});

test('a directory in use is refused by one line, whoever holds it; its server can be found', async () => {
  reuseEarlierData();
  expect(await findRunningPostgres(dataDirectory)).toBeUndefined();
  const { url } = await start();
  expect(await findRunningPostgres(dataDirectory)).toBe(url);
  await expect(start()).rejects.toThrow(
    new RegExp(`^The data in .* is in use by process ${process.pid}: .*$`),
  );
  const { error } = await holdPostgres(dataDirectory);
  expect(error).toMatch(/^StartupError: The data in .* is in use by process \d+: stop it first/);
});

test('of two first starts at once one serves, the other is refused', async () => {
  const results = await Promise.allSettled([start(), start()]);
  expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  const refused = results.find((result) => result.status === 'rejected');
  expect(refused?.reason).toBeInstanceOf(StartupError);
  expect(refused?.reason.message).toMatch(/is in use by/);
  expect(await readdir(folder)).toEqual(['postgres']);
});

test("another major's data is refused and not touched", async () => {
  await mkdir(dataDirectory);
  await writeFile(join(dataDirectory, 'PG_VERSION'), '15\n');
  await expect(start()).rejects.toThrow(/written by PostgreSQL 15, this Orrery brings PostgreSQL 18: move/);
  expect(await readdir(dataDirectory)).toEqual(['PG_VERSION']);
});

test('a folder that holds something else is refused', async () => {
  await mkdir(dataDirectory);
  await writeFile(join(dataDirectory, 'thesis.tex'), '');
  await expect(start()).rejects.toThrow(/is not empty and holds no PostgreSQL data/);
});

test.each(['x'.repeat(120), 'with space, "quote" and ünicode'])(
  'a data directory named %s is served from elsewhere',
  async (name) => {
    const { url, stop } = await start({ dataDirectory: join(folder, name) });
    const socket = new URL(url).searchParams.get('host') ?? '';
    expect((await stat(socket)).mode & 0o777).toBe(0o700);
    expect(await query(url, 'SELECT 1 AS one')).toEqual([{ one: 1 }]);
    await stop();
    await expect(stat(socket)).rejects.toThrow(/ENOENT/);
  },
);

test('an aborted first start leaves nothing behind', async () => {
  const abort = new AbortController();
  const starting = start({ signal: abort.signal });
  await vi.waitFor(async () => expect((await readdir(folder)).length).toBe(1), { interval: 5 });
  abort.abort();
  await expect(starting).rejects.toThrow(/abort/);
  expect(await readdir(folder)).toEqual([]);
});

test('the draft of a start that was killed is swept', async () => {
  const dead = spawn('true');
  await once(dead, 'exit');
  await mkdir(`${dataDirectory}.new-${dead.pid}-1`);
  await start();
  expect(await readdir(folder)).toEqual(['postgres']);
});
