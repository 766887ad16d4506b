import { once } from 'node:events';
import { mkdir, mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { findRunningPostgres } from '@orrery/embedded-postgres';
import { createTestDatabase, describeWithNats } from '@orrery/testing';
import { type NodeProcess, startNode } from '@orrery/testing/system';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startOldPostgres } from '../src/starting/old-postgres.js';
import { processesOf } from '../src/starting/processes-of.js';
import { runAllInOne, startHere } from '../src/starting/start-here.js';

const onLinux = process.platform === 'linux';
const services = ['gateway', 'catalog', 'runtime', 'scheduler', 'chain-pusher'];
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

const runService = (name: string, env: Record<string, string>) =>
  startNode(`services/${name}/dist/main.js`, { HEALTH_PORT: '0', ...env });

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
    expect(await refused('used')).toMatch(/^orrery: The data in .* is in use by process \d+: stop it first/);
    expect((await fetch(`${first.url}/readyz`)).status).toBe(200);
  });

  it('a data directory that cannot be made', async () => {
    await writeFile(join(folder, 'file'), '');
    expect(await refused('file')).toMatch(
      /^orrery: The data directory .* cannot be used \(EEXIST\): make it/,
    );
    expect(await refused('file/below')).toMatch(/^orrery: The data directory .* cannot be used \(ENOTDIR\)/);
  });

  it('a migration that fails, and one of a newer build; the next good start goes on', async () => {
    await spoil('update catalog.migration set name = $1 where name like $2', ['9999_future', '0001%']);
    expect(await refused('migrated')).toBe(
      'orrery: The schema catalog of the database was migrated by a newer build (migration 9999_future): start that build, or one that is newer.',
    );
    await nothingRuns();
  });

  /** Starts on the folder, changes the database under it, and ends. */
  async function spoil(sql: string, values: readonly string[]): Promise<void> {
    const { process } = await startHere(join(folder, 'migrated'));
    const client = new Client({
      connectionString: await findRunningPostgres(join(folder, 'migrated', 'postgres')),
    });
    await client.connect();
    await client.query(sql, [...values]);
    await client.end();
    await process.end();
  }
});
