import { createTestDatabase } from '@orrery/testing';
import { expect, it } from 'vitest';
import { createProgram } from '../src/program.js';

const run = async (env: Record<string, string>) => {
  const lines: string[] = [];
  const program = createProgram({
    env,
    write: (line) => lines.push(line),
    note: () => undefined,
    confirm: async () => false,
  });
  await program
    .parseAsync(['node', 'orrery', 'database', 'migrate'])
    .catch((error: Error) => lines.push(error.message));
  return lines;
};

it('brings the schemas of all services up to date, as often as asked', async () => {
  await using database = await createTestDatabase();
  const schemas = ['gateway', 'catalog', 'runtime', 'scheduler', 'chain_pusher'];
  for (let time = 0; time < 2; time += 1)
    expect(await run({ DATABASE_URL: database.url })).toEqual(schemas.map((name) => `${name} is up to date`));
});

it('says what it needs', async () => {
  expect(await run({})).toEqual([expect.stringContaining('Set DATABASE_URL')]);
});
