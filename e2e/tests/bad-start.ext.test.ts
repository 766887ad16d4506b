import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { findRunningPostgres } from '@orrery/embedded-postgres';
import { createTestDatabase, describeWithNats } from '@orrery/testing';
import {
  builtProgram,
  type NodeProcess,
  repositoryRoot,
  type ServiceName,
  startNode,
} from '@orrery/testing/system';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { startOldPostgres } from '../src/starting/old-postgres.js';
import { allInOneVariables, processesOf, runAllInOne, startHere } from '../src/starting/start-here.js';

const onLinux = process.platform === 'linux';
const services = ['gateway', 'catalog', 'runtime', 'scheduler', 'chain-pusher'] as const;
/** Nothing listens there: the port is reserved. */
const nowhere = '127.0.0.1:1';
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'orrery-bad-start-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The refusal, which is all that it says: one line, exit code 1. */
async function refusalOf(process: NodeProcess): Promise<string> {
  onTestFinished(() => process[Symbol.asyncDispose]());
  expect(await process.exited).toBe(1);
  const lines = process.output().trimEnd().split('\n');
  // A service logs, in JSON, that it waited; only the line for the operator is text.
  const told = lines.filter((line) => !line.startsWith('{'));
  expect(told).toHaveLength(1);
  return told[0] ?? '';
}

const runService = (name: ServiceName, env: Record<string, string>) =>
  startNode(builtProgram(name), { HEALTH_PORT: '0', ...env });

async function holdPort(): Promise<number> {
  const holder = createServer().listen(0, '127.0.0.1');
  await once(holder, 'listening');
  onTestFinished(() => void holder.close());
  return (holder.address() as AddressInfo).port;
}

describe('the all-in-one refuses by one line and leaves nothing half-started', () => {
  const refused = (name: string, env: Record<string, string> = {}) =>
    refusalOf(runAllInOne(join(folder, name), env));
  const nothingRuns = async () => {
    if (onLinux) expect(await processesOf(folder)).toEqual([]);
  };

  it('a port in use', async () => {
    const port = await holdPort();
    expect(await refused('port', { PORT: String(port) })).toBe(
      `orrery: Port ${port} on 127.0.0.1 is in use: stop the program that holds it or set PORT to another port.`,
    );
    await nothingRuns();
  });

  it('what is no port and files that are missing, before `npm start` builds anything', async () => {
    const missing = join(folder, 'no-such-file');
    const env = { PORT: 'many', PAYMENTS_FILE: missing };
    expect(await refusalOf(startNode('apps/standalone/start.js', env))).toBe(
      `orrery: Correct these environment variables and start again: PORT (not valid; expected a whole number from 0 to 65535); PAYMENTS_FILE (${missing}: there is no such file)`,
    );
  });

  it('a port in use, before `npm start` builds anything', async () => {
    const port = await holdPort();
    expect(await refusalOf(startNode('apps/standalone/start.js', { PORT: String(port) }))).toBe(
      `orrery: Port ${port} on 127.0.0.1 is in use: stop the program that holds it or set PORT to another port, as in \`PORT=${port + 1} npm start\`, for a second Orrery in this folder \`ORRERY_DATA_DIR=.orrery-2 PORT=${port + 1} npm start\`.`,
    );
    // Left to the start itself: a free port, one that it chooses, and what is no host.
    const { whyNotToStart } = await import(join(repositoryRoot, 'apps/standalone/check-start.js'));
    for (const env of [{ PORT: '0' }, { PORT: String(port), HOST: '192.0.2.1' }])
      expect(await whyNotToStart(env)).toBeUndefined();
  });

  it.each([
    'apps/standalone/start.js',
    'apps/standalone/dist/bundle/main.js',
    'apps/cli/bin/orrery.js',
    'services/gateway/dist/bundle/main.js',
  ])('a Node that is too old: %s', async (path) => {
    const old = join(folder, 'old-node.cjs');
    const versions = "{ ...process.versions, node: '18.19.1' }";
    await writeFile(old, `Object.defineProperty(process, 'versions', { value: ${versions} });`);
    expect(await refusalOf(startNode(path, { NODE_OPTIONS: `--require=${old}` }))).toBe(
      'orrery: This is Node.js 18.19.1, and Orrery needs 24 or newer. `npm ci` brings it for `npm start` and `npm run orrery`; to run the programs directly, install it (https://nodejs.org).',
    );
  });

  it('all wrong variables at once, before anything is made', async () => {
    const wrong = {
      PORT: 'many',
      MEMORY_MIB: '1',
      MAX_EVENTS_PER_WORLD: '-1',
      LOG_LEVEL: 'loud',
      NATS_URL: 'x',
    };
    const line = await refused('variables', wrong);
    for (const name of Object.keys(wrong)) expect(line).toContain(`${name} (not valid; expected `);
    await expect(stat(join(folder, 'variables'))).rejects.toThrow('ENOENT');
  });

  it('all problems of a list of AI models, beside those of variables', async () => {
    const list = join(folder, 'models.json');
    const model = { modelId: 'one', isDefault: true, apiKeyEnv: 'NO_SUCH_KEY' };
    await writeFile(list, JSON.stringify([model, model]));
    const line = await refused('models', { PORT: 'many', AI_MODELS_FILE: list });
    expect(line).toContain('PORT (not valid; expected ');
    expect(line).toContain(`AI_MODELS_FILE (${list}: `);
    for (const problem of [
      '/0/baseUrl is missing or wrong',
      '/1/apiKeyEnv names the environment variable NO_SUCH_KEY, which is not set',
      '/1/modelId is that of /0 again',
      '/0 and /1 are the default (expected one at most)',
    ])
      expect(line).toContain(problem);
    await expect(stat(join(folder, 'models'))).rejects.toThrow('ENOENT');
  });

  it('an unreachable database', async () => {
    const env = { DATABASE_URL: `postgres://orrery:hidden@${nowhere}/orrery` };
    expect(await refused('unreachable', env)).toBe(
      `orrery: PostgreSQL at ${nowhere}/orrery cannot be reached (ECONNREFUSED): start it or correct DATABASE_URL.`,
    );
  });

  it('a database that is too old', async () => {
    await using old = await startOldPostgres({ number: '140012', text: '14.12' });
    expect(await refused('old', { DATABASE_URL: old.url })).toMatch(
      /^orrery: PostgreSQL at 127\.0\.0\.1:\d+\/orrery is version 14\.12: Orrery needs 15 or newer, upgrade it or set/,
    );
  });

  it("another major's data", async () => {
    const cluster = join(folder, 'major', 'postgres');
    await mkdir(cluster, { recursive: true });
    await writeFile(join(cluster, 'PG_VERSION'), '15\n');
    expect(await refused('major')).toMatch(
      /^orrery: The data in .*\/major\/postgres was written by PostgreSQL 15, this Orrery brings PostgreSQL 18: move/,
    );
    await nothingRuns();
  });

  it('a data directory that another one uses', async () => {
    const first = await startHere(join(folder, 'used'));
    onTestFinished(() => first.process[Symbol.asyncDispose]());
    expect(await refused('used')).toMatch(
      /^orrery: The data in .* is in use by process \d+: stop it first, or choose another data directory with ORRERY_DATA_DIR\.$/,
    );
    await vi.waitFor(async () => expect((await fetch(`${first.url}/readyz`)).status).toBe(200));
  });

  it('a data directory that cannot be made', async () => {
    await writeFile(join(folder, 'file'), '');
    expect(await refused('file')).toMatch(
      /^orrery: The data directory .* cannot be used \(EEXIST\): make it/,
    );
    expect(await refused('file/below')).toMatch(/^orrery: The data directory .* cannot be used \(ENOTDIR\)/);
  });

  it('data that a newer build has migrated', async () => {
    const { process } = await startHere(join(folder, 'newer'));
    const address = await findRunningPostgres(join(folder, 'newer', 'postgres'));
    await query(address ?? '', `insert into catalog.migration values ('9999_future', '')`);
    await process.end();
    expect(await refused('newer')).toBe(
      'orrery: The schema catalog of the database was migrated by a newer build (migration 9999_future): start that build, or one that is newer.',
    );
    await nothingRuns();
  });

  it('a migration that fails, and rolls it back', async () => {
    await using database = await createTestDatabase();
    await query(
      database.url,
      'create schema catalog; create table catalog.worlds (a_table_of_strangers int)',
    );
    expect(await refused('broken', { DATABASE_URL: database.url })).toMatch(
      /^orrery: The migration 0001_definitions of schema catalog failed and was rolled back \(relation "worlds" already exists\): report it/,
    );
    expect(await query(database.url, 'select from catalog.migration')).toEqual([]);
  });
});

it('a signal to `npm start` ends the server', async () => {
  const data = join(folder, 'npm-start');
  // The build is there already.
  const programs = join(folder, 'programs');
  await mkdir(programs);
  await writeFile(join(programs, 'npm'), '#!/bin/sh\n', { mode: 0o755 });
  const npm = (await promisify(execFile)('sh', ['-c', 'command -v npm'])).stdout.trim();
  const env = { ...process.env, PATH: `${programs}:${process.env['PATH']}`, ...allInOneVariables(data) };
  const child = spawn(npm, ['start'], { cwd: repositoryRoot, env, stdio: ['ignore', 'pipe', 'pipe'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) if (line.includes('Ctrl-C ends it')) break;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
  if (onLinux) expect(await processesOf(data)).toEqual([]);
});

describe.each(services)('the service %s', (name) => {
  it('names every variable that is missing or wrong', async () => {
    const line = await refusalOf(runService(name, { HEALTH_PORT: 'x' }));
    expect(line).toMatch(new RegExp(`^${name}: Correct these environment variables and start again: `));
    for (const said of ['DATABASE_URL (missing; ', 'NATS_URL (missing; ', 'HEALTH_PORT (not valid; '])
      expect(line).toContain(said);
  });

  it('refuses a health port in use', async () => {
    const port = await holdPort();
    const backends = { DATABASE_URL: `postgres://${nowhere}/orrery`, NATS_URL: `nats://${nowhere}` };
    expect(await refusalOf(runService(name, { ...backends, HEALTH_PORT: String(port) }))).toBe(
      `${name}: Port ${port} on 127.0.0.1 is in use: stop the program that holds it or set HEALTH_PORT to another port.`,
    );
  });
});

// All at once: each waits some seconds for a server that may be starting.
it('each service refuses an unreachable NATS by its own line', async () => {
  const backends = { DATABASE_URL: `postgres://${nowhere}/orrery`, NATS_URL: `nats://${nowhere}` };
  const refused = services.map((name) => refusalOf(runService(name, backends)));
  expect(await Promise.all(refused)).toEqual(
    services.map(
      (name) =>
        `${name}: NATS at ${nowhere} cannot be used (connection refused): start it there or set NATS_URL.`,
    ),
  );
});

describeWithNats('each service with a bus', (NATS_URL) => {
  it('refuses an unreachable database, each by its own line', async () => {
    const refused = services.map((name) =>
      refusalOf(runService(name, { NATS_URL, DATABASE_URL: `postgres://${nowhere}/orrery` })),
    );
    expect(await Promise.all(refused)).toEqual(
      services.map(
        (name) =>
          `${name}: PostgreSQL at ${nowhere}/orrery cannot be reached (ECONNREFUSED): start it or correct DATABASE_URL.`,
      ),
    );
  });
});

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const result = await client.query(sql).finally(() => client.end());
  return result.rows;
}
