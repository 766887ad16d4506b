import { createTestDatabase } from '@orrery/testing';
import { query } from '@orrery/testing/servers';
import { expect, it } from 'vitest';
import { createProgram } from '../src/program.js';

const run = async (env: Record<string, string>, ...command: string[]) => {
  const lines: string[] = [];
  const program = createProgram({
    env,
    write: (line) => lines.push(line),
    note: () => undefined,
    confirm: async () => false,
  });
  await program.parseAsync(['node', 'orrery', ...command]).catch((error: Error) => lines.push(error.message));
  return lines;
};

it('brings the schemas of all services up to date, as often as asked', async () => {
  await using database = await createTestDatabase();
  const schemas = ['gateway', 'catalog', 'runtime', 'scheduler', 'chain_pusher', 'directory'];
  for (let time = 0; time < 2; time += 1)
    expect(await run({ DATABASE_URL: database.url }, 'database', 'migrate')).toEqual(
      schemas.map((name) => `${name} is up to date`),
    );
});

it('says what it needs', async () => {
  expect(await run({}, 'database', 'migrate')).toEqual([expect.stringContaining('Set DATABASE_URL')]);
  const wrong = { DATABASE_URL: 'user:secret@host/x' };
  for (const command of [
    ['database', 'migrate'],
    ['accounts', 'list'],
    ['partitions', 'list'],
  ]) {
    const said = (await run(wrong, ...command)).join();
    expect(said).toMatch(/^Correct these .* DATABASE_URL \(not valid; expected a PostgreSQL address/);
    expect(said).not.toContain('secret');
  }
});

it('accepts what was restored, and nothing where nothing was', async () => {
  await using database = await createTestDatabase();
  await using directory = await createTestDatabase();
  const env = { DATABASE_URL: database.url, RUNTIME_DIRECTORY_URL: directory.url };
  const nothing = 'the database and the directory agree: nothing was to be accepted';
  expect(await run(env, 'database', 'accept-restored')).toEqual([nothing]);
  const [here] = await query<{ id: string }>(database.url, 'select id from runtime.this_database');
  await query(directory.url, `insert into directory.databases (id, name, place) values ($1, '1', 0)`, [
    here?.id,
  ]);
  await query(directory.url, 'insert into directory.homes select 5, id, 9 from directory.databases');
  expect((await run(env, 'database', 'accept-restored')).join('\n')).toBe(
    'partition  database  directory\n5          1         9\naccepted as the database has it: 1 partitions',
  );
  expect(await run(env, 'database', 'accept-restored')).toEqual([nothing]);
  const listed = JSON.parse((await run(env, 'partitions', 'list', '--json')).join());
  expect(listed).toHaveLength(64);
  expect(listed[5]).toEqual({
    partition: 5,
    home: '1',
    generation: 10,
    move: null,
    here: { generation: 10, owner: null, journals: 0, entries: 0, perHour: 0 },
  });
  expect((await run(env, 'partitions', 'list')).join()).toMatch(
    /^partition +home +generation +inDatabase +owner +journals +entries +perHour +move\n0 /,
  );
});
