import { Resources } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { query } from '@orrery/testing/servers';
import { expect, it } from 'vitest';
import { prepareTwo, runIn } from './two-databases.js';

/** Journals of so many entries, the last so many of now and those before older. The partition of each is its number. */
const keepJournals = async (url: string, journals: Readonly<Record<number, readonly [number, number]>>) => {
  for (const [deployment, [entries, lately]] of Object.entries(journals)) {
    await query(
      url,
      `insert into runtime.journal (deployment_id, seq, id, v, kind, caller, changes, executed_at, prev_hash, hash)
      select $1, n, gen_random_uuid(), 1, 'execution', 'owner', '[]',
        now() - case when n > $2::int - $3::int then interval '0' else interval '1 day' end, '', ''
      from generate_series(1, $2::int) n`,
      [Number(deployment), entries, lately],
    );
    await query(
      url,
      `insert into runtime.journal_heads (deployment_id, seq, hash, totals, active_minute)
      values ($1, $2, '', '{}', floor(extract(epoch from now()) / 60))`,
      [Number(deployment), entries],
    );
  }
};

const listed = async (run: Awaited<ReturnType<typeof prepareTwo>>['run']) => {
  const rows: { partition: number; home: string; here: { entries: number; perHour: number } | null }[] =
    JSON.parse((await run('npx orrery partitions list --json')).join());
  return rows.flatMap(({ partition, home, here }) =>
    here !== null && here.entries > 0 ? [[partition, home, here.entries, here.perHour]] : [],
  );
};

it('lists what all databases have, and proposes moves by what was written within the last hour', async () => {
  await using resources = new Resources(PATIENT);
  const { first, second, env, run } = await prepareTwo(resources);
  await run('npx orrery partitions move 7 --to 2');
  await keepJournals(first.url, { 8: [3, 0], 9: [45, 45], 10: [200, 60], 11: [40, 40] });
  await keepJournals(second.url, { 7: [10, 10] });
  const spread = 'npx orrery partitions spread';
  expect(await listed(run)).toEqual([
    [5, '1', 1, 0],
    [7, '2', 10, 10],
    [8, '1', 3, 0],
    [9, '1', 45, 45],
    [10, '1', 200, 60],
    [11, '1', 40, 40],
  ]);
  expect((await run(spread)).join('\n').split('\n')).toEqual([
    'home  perHour   entries   partitions',
    '1     145 → 85  289 → 89  63 → 62',
    '2     10 → 70   10 → 210  1 → 2',
    'orrery partitions move 10 --to 2',
  ]);
  // From the other side: the same move, with variables in place of addresses.
  const other = runIn({ ...env, DATABASE_URL: second.url, DATABASE_URL_1: first.url, DATABASE_URL_2: '' });
  expect((await other(spread)).at(-1)).toBe(
    'DATABASE_URL="$DATABASE_URL_1" orrery partitions move 10 --to-url "$DATABASE_URL"',
  );
  expect(JSON.parse((await run(`${spread} --json`)).join())).toEqual([{ partition: 10, from: '1', to: '2' }]);
  // What is on its way already is left where it is.
  await query(
    first.url,
    `insert into directory.moves (partition, source, target) select 10, a.id, b.id
    from directory.databases a, directory.databases b where a.name = '1' and b.name = '2'`,
  );
  expect((await run(spread)).slice(1)).toEqual([
    'orrery partitions move 9 11 --to 2',
    'DATABASE_URL="$DATABASE_URL_2" orrery partitions move 7 --to-url "$DATABASE_URL"',
  ]);
  expect((await run('npx orrery partitions list')).join()).toMatch(/\n10 .* 1 → 2\n/);
});

it('needs the addresses of all databases to propose anything, and of none to list', async () => {
  await using resources = new Resources(PATIENT);
  const { first, second, env } = await prepareTwo(resources);
  const alone = runIn({ ...env, DATABASE_URL_2: '' });
  expect(await alone('npx orrery partitions spread')).toEqual([
    'Set DATABASE_URL_2 to the address of the database 2: what it has is part of the load.',
  ]);
  expect(await listed(alone)).toEqual([[5, '1', 1, 0]]);
  expect(await runIn({ ...env, DATABASE_URL_2: first.url })('npx orrery partitions list')).toEqual([
    'DATABASE_URL_2 has the address of another database than the directory names 2.',
  ]);
  expect(second.url).not.toBe(first.url);
});
