import { OPERATOR } from '@orrery/runtime/operator';
import { Resources } from '@orrery/service-kit';
import { PATIENT } from '@orrery/testing';
import { query, withClient } from '@orrery/testing/servers';
import { expect, it, vi } from 'vitest';
import { prepareTwo, runIn } from './two-databases.js';

/** The address for a connection under a name: that of `OPERATOR` is taken for a command's. */
function under(name: string, address: string): string {
  const url = new URL(address);
  url.searchParams.set('application_name', name);
  return url.href;
}

/** What a slow machine adds. */
const BETWEEN_STEPS = / of \d+ entries| are carried$|: waits |tries again$/;

it('moves a partition to another database, undoes it and deletes what is left', async () => {
  await using resources = new Resources(PATIENT);
  const { first, second, run } = await prepareTwo(resources);
  const found = (url: string) => query(url, 'select id, name from runtime.deployments');

  expect(await run('npx orrery partitions move 5 --to 2 --abort')).toEqual([
    'The partition 5 is not on its way between these databases.',
  ]);
  const name = new URL(second.url).pathname.slice(1);
  const broken = await withClient(second.url, async (client) => {
    // Nothing can be copied meanwhile.
    await client.query('begin; lock table runtime.journal_heads in share mode');
    const heard: string[] = [];
    const ended = run('npx orrery partitions move 5 --to 2', heard);
    await vi.waitFor(() => expect(heard.at(-1)).toMatch(/ of \d+ tables/));
    await query(first.url, `alter database ${name} allow_connections false`);
    await client.query(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'orrery-operator' and datname = current_database()`);
    return (await ended).at(-1);
  });
  await query(first.url, `alter database ${name} allow_connections true`);
  expect(broken).toMatch(/^A database went away, .*: run it again, it goes on from where it was\.$/);
  const said = await run('npx orrery partitions move 5 --to 2');
  expect(said.filter((line) => !BETWEEN_STEPS.test(line))).toEqual([
    'partition 5: noted in the directory; waits until those who write at the source now have committed',
    'partition 5: its rows are published',
    'partition 5: rows are copied while its deployments are executed',
    'partition 5: the copy follows every commit',
    'partition 5: without owner',
    'partition 5: the target has every commit',
    'partition 5: its deployments are at the target',
    expect.stringMatching(/^partition 5: it lives there, after \d+ ms without owner$/),
    'partition 5: moved',
  ]);
  expect([await found(first.url), await found(second.url)]).toEqual([[], [{ id: '69', name: 'Race day' }]]);
  expect(await run('npx orrery partitions move 5 --to 2')).toEqual(['partition 5: moved']);
  expect(await run('npx orrery partitions move 5 --to 2 --abort')).toEqual([
    'The partition 5 has moved: move it back instead, after --clean.',
  ]);
  expect((await run('npx orrery partitions move 5 --to 2 --clean')).at(-1)).toBe(
    'partition 5: 1 rows deleted',
  );
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

it('watches a move that another command carries out, until it has ended', async () => {
  await using resources = new Resources(PATIENT);
  const { first, second, run } = await prepareTwo(resources);
  const watch = 'npx orrery partitions move 5 --to 2 --watch';
  expect(await run(watch)).toEqual(['The partition 5 is not on its way between these databases.']);
  // The copy of one table fails, and is tried again, until this row is gone.
  await query(second.url, `insert into runtime.journal_heads values (69, 1, 'hash', '{}')`);
  const moved = run('npx orrery partitions move 5 --to 2');
  const subscribed = () =>
    query(second.url, `select from pg_subscription where subname like 'orrery_move_5_%'`);
  await vi.waitFor(async () => expect(await subscribed()).toHaveLength(1));
  const seen: string[] = [];
  const watched = run(watch, seen);
  await vi.waitFor(() => {
    const [, inStep, tables] = COPYING.exec(seen.at(-1) ?? '') ?? [];
    expect(Number(tables) - Number(inStep)).toBe(1);
  });
  await query(second.url, 'delete from runtime.journal_heads');
  expect((await moved).at(-1)).toBe('partition 5: moved');
  expect((await watched).at(-1)).toBe('partition 5: moved');
  expect(await run(watch)).toEqual(['partition 5: moved']);
  expect(await query(first.url, 'select partition from directory.moves')).toEqual([{ partition: 5 }]);
});

const COPYING = /^partition 5: (\d+) of (\d+) tables, 0 of 1 entries/;

it('watches a move that is undone, and says when nobody carries one on', async () => {
  await using resources = new Resources(PATIENT);
  const { first, run } = await prepareTwo(resources);
  const noteMove = () =>
    query(
      first.url,
      `insert into directory.moves (partition, source, target) select 5, a.id, b.id
      from directory.databases a, directory.databases b where a.name = '1' and b.name = '2'`,
    );
  const watch = 'npx orrery partitions move 5 --to 2 --watch';
  await noteMove();
  const command = 'orrery partitions move 5 --to 2';
  expect(await run(watch)).toEqual([
    'partition 5: noted in the directory; waits until those who write at the source now have committed',
    `Nobody carries the move of 5 on: run \`${command}\` again, or undo it with \`${command} --abort\`.`,
  ]);
  await withClient(under(OPERATOR, first.url), async (mover) => {
    const [working] = (await mover.query<{ pid: number }>('select pg_backend_pid() as pid')).rows;
    const ended = mover.query('select pg_sleep(3600)').catch(() => undefined);
    const seen: string[] = [];
    const watched = run(watch, seen);
    await vi.waitFor(() =>
      expect(seen).toEqual([
        'partition 5: noted in the directory; waits until those who write at the source now have committed',
      ]),
    );
    expect(await run(`npx ${command} --abort`)).toEqual(['partition 5: as before']);
    expect((await watched).at(-1)).toBe('partition 5: as before');
    await query(first.url, 'select pg_cancel_backend($1)', [working?.pid]);
    await ended;
  });
  for (const wish of ['--abort', '--clean'])
    expect(await run(`${watch} ${wish}`)).toEqual(['One of --abort, --clean and --watch.']);
});

it('says after a restore of the directory where a partition is, and lets nothing be lost', async () => {
  await using resources = new Resources(PATIENT);
  const { first, second, env, run } = await prepareTwo(resources);
  const atSecond = runIn({ ...env, DATABASE_URL: second.url, DATABASE_URL_1: first.url });
  expect((await run('npx orrery partitions move 5 --to 2')).at(-1)).toBe('partition 5: moved');
  await query(second.url, `update runtime.journal_heads set seq = 2, hash = 'later'`);
  const restore = async (isMoving: boolean) => {
    await query(
      first.url,
      `update directory.homes set generation = 1, database = (select id from directory.databases where name = '1')`,
    );
    if (!isMoving) await query(first.url, 'delete from directory.moves');
  };
  const accept = 'npx orrery database accept-restored';
  await restore(true);
  expect(await run(accept)).toEqual([
    'partition 5: on its way to 2; `orrery partitions move 5 --to 2` ends that',
    'nothing else was to be accepted',
  ]);
  expect(await run('npx orrery partitions move 5 --to 2 --abort')).toEqual([
    expect.stringMatching(/^The target has what the source lacks of the partition 5: 1 entries or more/),
  ]);
  await restore(false);
  expect(await run(accept)).toEqual([
    'partition 5: in the database 2, to which it moved before the directory was restored; `orrery partitions move 5 --to 2` tells the directory so',
    'nothing else was to be accepted',
  ]);
  const { DATABASE_URL_2: _, ...alone } = env;
  expect((await runIn(alone)(accept))[0]).toBe(
    'partition 5: not in the database, which was restored to before it came, and others were not asked: set DATABASE_URL_2 and run this again; it is not served',
  );
  expect(await atSecond(accept)).toEqual([
    'partition 5: in this database, and in 1 by the directory; `DATABASE_URL="$DATABASE_URL_1" orrery partitions move 5 --to 2` says which of both has more, and lets it live here where only this one has it',
    'nothing else was to be accepted',
  ]);
  expect((await run('npx orrery partitions move 5 --to 2')).at(-1)).toBe('partition 5: moved');
  expect((await run(accept)).at(-1)).toMatch(/agree: nothing was to be accepted$/);
  expect(await query(second.url, 'select seq from runtime.journal_heads')).toEqual([{ seq: '2' }]);
  for (const [wish, answer] of [
    ['--discard-target', '--discard-target goes with --abort.'],
    ['--discard-source --clean', '--discard-source goes with a move alone.'],
  ] as const)
    expect(await run(`npx orrery partitions move 5 --to 2 ${wish}`)).toEqual([answer]);
});
