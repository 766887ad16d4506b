import { mkdtemp, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createLogger } from '@orrery/service-kit';
import { Client } from 'pg';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { startEmbeddedPostgres } from '../src/index.js';

const logger = createLogger({ service: 'test', level: 'silent' });
let folder: string;
let dataDirectory: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-supervised-'));
  dataDirectory = join(folder, 'postgres');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function start(pausesMs = [10, 50, 200]) {
  const lost: string[] = [];
  const onLost = ({ message }: Error) => void lost.push(message);
  const server = await startEmbeddedPostgres({ dataDirectory, supervision: { logger, onLost, pausesMs } });
  onTestFinished(() => server.stop());
  return { server, lost };
}

async function query(url: string, sql: string) {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  return client
    .query(sql)
    .then(({ rows }) => rows)
    .finally(() => client.end().catch(() => undefined));
}

test('a server that was killed under load runs again at the same address, with what was committed', async () => {
  const { server, lost } = await start();
  const { url, pid } = server;
  await query(url, 'create table kept as select 7 as n');
  const cut = [query(url, 'select pg_sleep(60)'), query(url, 'select count(*) from generate_series(1, 1e9)')];
  const ends = Promise.allSettled(cut);
  await vi.waitFor(async () => {
    const [{ busy }] = await query(
      url,
      "select count(*)::int as busy from pg_stat_activity where state = 'active'",
    );
    expect(busy).toBe(3);
  });
  process.kill(pid, 'SIGKILL');
  expect((await ends).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  await vi.waitFor(async () => expect(await query(url, 'select n from kept')).toEqual([{ n: 7 }]), {
    interval: 50,
  });
  expect(server.pid).not.toBe(pid);
  expect(lost).toEqual([]);
});

test('a server that cannot be started again is given up after a few tries, and the reason is told', async () => {
  const { server, lost } = await start([10, 10]);
  const control = join(dataDirectory, 'global', 'pg_control');
  await rename(control, `${control}.away`);
  onTestFinished(() => rename(`${control}.away`, control));
  process.kill(server.pid, 'SIGKILL');
  await vi.waitFor(() => expect(lost).toHaveLength(1));
  expect(lost[0]).toMatch(/^PostgreSQL ended and does not stay up: .*(control file|database system)/);
});

test('a server that is stopped while it is about to be started again stays stopped', async () => {
  const { server, lost } = await start([100]);
  process.kill(server.pid, 'SIGKILL');
  await server.stop();
  // Longer than the pause after which it would be started again, and than a start takes.
  await delay(500);
  await expect(query(server.url, 'select 1')).rejects.toThrow(/ENOENT|ECONNREFUSED/);
  expect(lost).toEqual([]);
});
