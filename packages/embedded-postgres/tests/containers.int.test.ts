import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { startEmbeddedPostgres } from '../src/index.js';
import { tryLock } from '../src/process/file-lock.js';
import { contained, type Holder, holdPostgres } from './hold-postgres.js';

const mayContain = spawnSync('unshare', ['--pid', '--fork', '--mount-proc', '--ipc', 'true']).status === 0;

let folder: string;
let dataDirectory: string;

beforeEach(async ({ onTestFinished }) => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-contained-'));
  dataDirectory = join(folder, 'postgres');
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

async function hold(variables: Readonly<Record<string, string>> = {}): Promise<Holder> {
  const holder = await holdPostgres(dataDirectory, contained(variables));
  const { child } = holder;
  const exit = once(child, 'exit');
  onTestFinished(async () => {
    if (child.connected) child.disconnect();
    await exit;
  });
  return holder;
}

async function query(url: string, sql: string) {
  const client = new Client({ connectionString: url });
  await client.connect();
  return client.query(sql).then(
    ({ rows }) => client.end().then(() => rows),
    (error) => client.end().then(() => Promise.reject(error)),
  );
}

describe.runIf(mayContain)('two containers on one volume', () => {
  // Programs that the server needs are found without PATH; `flock` is not.
  test.each([
    ['by its lock', {}],
    ['by its socket where nothing can be locked', { PATH: '/nowhere' }],
  ])('the second one finds the first one %s, and changes nothing', async (_, variables) => {
    await (await startEmbeddedPostgres({ dataDirectory })).stop();
    const { url, error: none } = await hold(variables);
    expect(none).toBeUndefined();
    await query(url, 'create table kept as select 7 as n');
    const { error } = await hold(variables);
    expect(error).toMatch(/^StartupError: The data in .* is in use by another process, here or in another/);
    expect(await query(url, 'select n from kept')).toEqual([{ n: 7 }]);
  });

  test('of two that start at once on a folder of a server that was killed, one serves', async () => {
    const { child } = await hold();
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
    const holders = await Promise.all([hold(), hold(), hold()]);
    expect(holders.filter(({ error }) => error === undefined)).toHaveLength(1);
  });
});

test.runIf(process.platform === 'linux')('a draft that another container fills is not swept', async () => {
  const dead = spawn('true');
  await once(dead, 'exit');
  const draft = `${dataDirectory}.new-${dead.pid}-1`;
  await mkdir(draft);
  const unlock = await tryLock(draft, 'r');
  await (await startEmbeddedPostgres({ dataDirectory })).stop();
  expect((await readdir(folder)).sort()).toEqual(['postgres', `postgres.new-${dead.pid}-1`]);
  unlock?.();
});
