import { createTestDatabase } from '@orrery/testing';
import { query } from '@orrery/testing/servers';
import { expect, it } from 'vitest';
import { createProgram } from '../src/program.js';

const runIn = (env: Record<string, string>) => async (command: string) => {
  const lines: string[] = [];
  const io = { write: (line: string) => lines.push(line), note: () => undefined, confirm: async () => false };
  const program = createProgram({ env, ...io });
  const words = command.split(' ').slice(2);
  await program.parseAsync(['node', 'orrery', ...words]).catch((error: Error) => lines.push(error.message));
  return lines;
};

it('moves a partition to another database, undoes it and deletes what is left', async () => {
  await using first = await createTestDatabase();
  await using second = await createTestDatabase();
  const env = { DATABASE_URL: first.url, RUNTIME_DIRECTORY_URL: first.url, DATABASE_URL_2: second.url };
  const run = runIn(env);
  await run('npx orrery database migrate');
  // What the first runtime does at its start.
  const [here] = await query<{ id: string }>(
    first.url,
    'insert into runtime.this_database (id) values (gen_random_uuid()) returning id',
  );
  const id = here?.id;
  await query(first.url, `insert into directory.databases (id, name, place) values ($1, '1', 0)`, [id]);
  await query(
    first.url,
    'insert into directory.homes select partition, $1, 1 from generate_series(0, 63) as partition',
    [id],
  );
  await runIn({ ...env, DATABASE_URL: second.url })('npx orrery databases add 2');
  await query(first.url, `update directory.databases set added_at = now() - interval '1 hour'`);
  await query(
    first.url,
    `insert into runtime.deployments (id, address, world_id, world_address, owner_account_id, name, mode, created_at, updated_at)
    overriding system value values (69, '0x69', 1, '0x1', 1, 'Race day', 'upgradable', now(), now())`,
  );
  await query(first.url, `insert into runtime.journal_heads values (69, 1, 'hash', '{}')`);
  const found = (url: string) => query(url, 'select id, name from runtime.deployments');

  expect(await run('npx orrery partitions move 5 --to 2 --abort')).toEqual([
    'The partition 5 is not on its way between these databases.',
  ]);
  const said = await run('npx orrery partitions move 5 --to 2');
  expect(said[0]).toBe('partition 5: rows are copied while its deployments are executed');
  expect(said.slice(-2)).toEqual([
    expect.stringMatching(/^partition 5: at the target, after \d+ ms without owner$/),
    'partition 5: moved',
  ]);
  expect([await found(first.url), await found(second.url)]).toEqual([[], [{ id: '69', name: 'Race day' }]]);
  expect(await run('npx orrery partitions move 5 --to 2')).toEqual(['partition 5: moved']);
  expect(await run('npx orrery partitions move 5 --to 2 --abort')).toEqual([
    'The partition 5 has moved: move it back instead, after --clean.',
  ]);
  expect(await run('npx orrery partitions move 5 --to 2 --clean')).toEqual(['partition 5: 1 rows deleted']);
  expect(await run('npx orrery partitions move 1 3')).toEqual([
    'Say where to: --to with a name, or --to-url with an address.',
  ]);
  expect(await run('npx orrery partitions move 1 3 --to 3')).toEqual([
    'Set DATABASE_URL_3 to the address of the database 3, or give it with --to-url.',
  ]);
  expect(await run('npx orrery partitions move 1 3 --to 2')).toEqual([
    'partition 1: moved',
    'partition 3: moved',
  ]);
});
