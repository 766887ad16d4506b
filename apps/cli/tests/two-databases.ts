import type { Resources } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { query } from '@orrery/testing/servers';
import { createProgram } from '../src/program.js';

/** Runs commands as they are typed; answers the lines that they write, and the message of an error. */
export const runIn =
  (env: Record<string, string>) =>
  async (command: string, lines: string[] = []) => {
    const io = {
      write: (line: string) => lines.push(line),
      note: () => undefined,
      confirm: async () => false,
    };
    const program = createProgram({ env, ...io });
    const words = command.split(' ').slice(2);
    await program.parseAsync(['node', 'orrery', ...words]).catch((error: Error) => lines.push(error.message));
    return lines;
  };

/** Two databases of one directory, and a deployment in the partition 5 of the first. */
export async function prepareTwo(resources: Resources) {
  const first = resources.use('first', await createTestDatabase());
  const second = resources.use('second', await createTestDatabase());
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
  return { first, second, env, run };
}
