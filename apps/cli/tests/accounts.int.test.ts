import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTestDatabase, type TestDatabase } from '@orrery/testing';
import { query } from '@orrery/testing/servers';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { createProgram } from '../src/program.js';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await run('keys', 'create', '--name', 'ann');
});
afterAll(() => database.drop());

async function run(...args: string[]): Promise<string> {
  const lines: string[] = [];
  const program = createProgram({
    env: { DATABASE_URL: database.url },
    write: (line) => lines.push(line),
    note: () => undefined,
    confirm: async () => false,
  });
  program.configureOutput({ writeErr: (text) => lines.push(text) });
  for (const command of program.commands) {
    command.exitOverride();
    for (const sub of command.commands)
      sub.exitOverride().configureOutput({ writeErr: (text) => lines.push(text) });
  }
  await program.parseAsync(['node', 'orrery', ...args]).catch((error: Error) => lines.push(error.message));
  return lines.join('\n');
}

describe('orrery accounts', () => {
  it('lists, disables, enables and bounds', async () => {
    expect(await run('accounts', 'list')).toMatch(/id +name .*\n1 +ann +– +enabled/);
    expect(await run('accounts', 'disable', '1')).toBe('account 1 is disabled, quotas none');
    expect(await run('accounts', 'list')).toMatch(/1 +ann +– +disabled/);
    expect(await run('accounts', 'enable', '1')).toBe('account 1 is enabled, quotas none');
    const quotas = await run('accounts', 'quota', '1', '--worlds', '3', '--ai-usd-per-day', '2.5');
    expect(quotas).toBe('account 1 is enabled, quotas worlds=3,aiUsdPerDay=2.5');
  });

  it('says what is wrong', async () => {
    const noAccount = 'There is no account 999. `orrery accounts list` shows those that exist.';
    expect(await run('accounts', 'disable', '999')).toBe(noAccount);
    expect(await run('keys', 'create', '--account', '999')).toBe(noAccount);
    expect(await run('keys', 'list', '--account', '999')).toBe(noAccount);
    expect(await run('keys', 'revoke', 'abc', '--account', '1')).toBe(
      'Account 1 has no key abc. `orrery keys list --account 1` shows its keys.',
    );
    expect(await run('accounts', 'disable', 'ann')).toContain('It must be a whole number.');
    expect(await run('accounts', 'quota', '1', '--ai-usd-per-day', 'lots')).toContain(
      'It must be an amount such as 2.50.',
    );
  });

  it('refuses a quota that no service could count, and a page before the first', async () => {
    for (const quota of ['--worlds', '--deployments', '--pushes-per-day'])
      expect(await run('accounts', 'quota', '1', quota, '9999999999')).toContain('up to 999,999,999');
    expect(await run('accounts', 'list', '--page', '0')).toContain('Pages have numbers from 1.');
  });

  it('lists all keys of an account, however many', async () => {
    await run('keys', 'create', '--name', 'many');
    const [{ account_id: account }] = (await query(
      database.url,
      "select account_id from gateway.keys where name = 'many'",
    )) as [{ account_id: string }];
    await query(
      database.url,
      `insert into gateway.keys (id, account_id, name, scopes, hash)
       select 'k' || n, account_id, 'k' || n, scopes, decode(md5(n::text), 'hex')
       from gateway.keys, generate_series(1, 130) n where name = 'many'`,
    );
    expect((await run('keys', 'list', '--account', String(account))).split('\n')).toHaveLength(132);
  });

  it('creates a key that ends when it is said', async () => {
    const time = '2126-01-01T00:00:00Z';
    for (const account of [[], ['--account', '1']])
      await run('keys', 'create', '--name', 'visitor', '--expires-at', time, ...account);
    const rows = await query(
      database.url,
      "select expires_at from gateway.keys where name = 'visitor' and expires_at = $1",
      [time],
    );
    expect(rows).toHaveLength(2);
    for (const wrong of ['friday', '2020-01-01T00:00:00Z'])
      expect(await run('keys', 'create', '--expires-at', wrong)).toContain(
        `${wrong} is no time that is to come`,
      );
    for (const option of [['--url', 'http://127.0.0.1:1'], ['--json']])
      expect(await run('keys', 'create', ...option)).toContain(`${option[0]} goes with --own`);
  });

  it('says that there is no such deployment', async () => {
    const address = `0x${'a'.repeat(40)}`;
    expect(await run('deployments', 'pause', address)).toMatch(
      /^There is no deployment 0xa+ in the database\./,
    );
    expect(await run('deployments', 'resume', '7')).toMatch(/^There is no deployment 7 in the database\./);
  });

  it('pauses and resumes as the operator, for programs too', async () => {
    await query(
      database.url,
      `insert into runtime.deployments (id, address, world_id, world_address, owner_account_id, name, mode, created_at, updated_at)
      overriding system value values (69, '0x69', 1, '0x1', 1, 'Race day', 'upgradable', now(), now())`,
    );
    expect(JSON.parse(await run('deployments', 'resume', '69', '--json'))).toEqual({
      address: '0x69',
      isPausedByOperator: false,
      isDone: true,
    });
    expect(await run('deployments', 'resume', '69')).toBe(
      'deployment 0x69 is no longer paused by the operator',
    );
  });

  it('makes no database where none is', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'orrery-nothing-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    const listing = createProgram({
      env: { ORRERY_DATA_DIR: folder },
      write: () => undefined,
      note: () => undefined,
      confirm: async () => false,
    }).parseAsync(['node', 'orrery', 'accounts', 'list']);
    await expect(listing).rejects.toThrow(`There is no database in ${folder}`);
    expect(await readdir(folder)).toEqual([]);
  });
});
