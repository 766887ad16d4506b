import { createLogger } from '@orrery/service-kit';
import { query } from '@orrery/testing/servers';
import { expect, it, vi } from 'vitest';
import { enterHome } from '../src/lane/ownership/enter-home.js';
import {
  abortMove,
  acceptDisagreements,
  cleanMoved,
  type MoveOptions,
  movePartition,
  strayedPartitions,
} from '../src/operator.js';
import { REPLICATED } from '../src/store/leases/moves/moved-tables.js';
import { type Planted, prepareTwo } from './moving.js';

const { first, second, runtimes, planted, moving } = await prepareTwo();
const [moved, kept, dropped] = planted as [Planted, Planted, Planted, Planted];

const countOf = async (url: string, table: string, { deployment }: Planted) =>
  (await query(url, `select from runtime.${table} where deployment_id = $1`, [deployment.id])).length;
const entriesAt = (url: string, one: Planted) => countOf(url, 'journal', one);
const homesRead = async () => {
  for (const { context } of runtimes) await context.homes.read();
};

/** Moves a partition, and executes at its target once more. */
async function moveAndExecute(one: Planted): Promise<MoveOptions> {
  const options = moving(one);
  await one.execute({ id: 'x' });
  await movePartition(options);
  await homesRead();
  await one.execute({ id: 'x' });
  return options;
}

/** The directory as a dump has it that was made before the partition moved, or while it did. */
async function restoreDirectory({ partition }: MoveOptions, { whileItMoved }: { whileItMoved: boolean }) {
  await query(
    first,
    `update directory.homes set generation = 1, database = (select id from directory.databases where name = '1')
      where partition = $1`,
    [partition],
  );
  if (!whileItMoved) await query(first, 'delete from directory.moves where partition = $1', [partition]);
}

/** The database as a dump has it that was made before the partition moved. */
async function restoreSource(options: MoveOptions) {
  const { partition } = options;
  await restoreDirectory(options, { whileItMoved: false });
  await query(
    first,
    `insert into runtime.deployments overriding system value
      select (json_populate_record(null::runtime.deployments, row)).* from runtime.departed_deployments where id % 64 = ${partition}`,
  );
  await query(first, `delete from runtime.departed_deployments where id % 64 = ${partition}`);
  await query(
    first,
    `update runtime.partitions set generation = 1, expires_at = null, epoch = epoch + 1 where id = ${partition}`,
  );
}

it('a directory that is restored to a dump of a move that has ended keeps the target from being undone', async () => {
  const options = await moveAndExecute(moved);
  await restoreDirectory(options, { whileItMoved: true });
  const { partition, target, directory } = options;
  expect(await strayedPartitions(target, directory)).toEqual(
    (await generationAt(second, partition)) > 3 ? [{ partition, home: '1' }] : [],
  );
  await expect(abortMove(options)).rejects.toThrow(
    /has what the source lacks of the partition \d+: 1 entries or more of 1 deployments, the last of \d{4}-.* or delete it with --abort --discard-target/,
  );
  await movePartition(options);
  await homesRead();
  await moved.execute({ id: 'x' });
  expect(await moved.counter('x')).toMatchObject({ state: { count: 3 } });
  expect(await moved.verify()).toMatchObject({ valid: true });
  expect(await strayedPartitions(target, directory)).toEqual([]);
});

const generationAt = async (url: string, partition: number) =>
  Number(
    (
      await query<{ generation: string }>(url, 'select generation from runtime.partitions where id = $1', [
        partition,
      ])
    )[0]?.generation,
  );

it('a source that is restored to before a move does not let what the target has be deleted by the way', async () => {
  const options = await moveAndExecute(kept);
  await restoreSource(options);
  const { partition, target, directory } = options;
  expect(await strayedPartitions(target, directory)).toEqual([{ partition, home: '1' }]);
  const lines: string[] = [];
  const logger = createLogger({
    service: 'test',
    level: 'error',
    destination: { write: (line) => lines.push(line) },
  });
  await enterHome(target, directory, { databaseUrl: second, directoryUrl: first }, logger);
  expect(lines.join()).toContain('has partitions of which the directory');
  // The other way round nothing is deleted.
  const back = { source: options.target, target: options.source };
  await expect(cleanMoved({ ...options, ...back })).rejects.toThrow('Nothing is deleted');
  await expect(movePartition(options)).rejects.toThrow(
    /1 entries or more of 1 deployments.*Both have it: keep what the target has with --discard-source/,
  );
  await expect(abortMove(options)).rejects.toThrow('--abort --discard-target');
  await movePartition({ ...options, discardSource: true });
  await homesRead();
  await kept.execute({ id: 'x' });
  expect(await kept.counter('x')).toMatchObject({ state: { count: 3 } });
  expect(await kept.verify()).toMatchObject({ valid: true });
  await cleanMoved(options);
  expect(await entriesAt(first, kept)).toBe(0);
});

it('what only the target has is deleted where the operator says so', async () => {
  const options = await moveAndExecute(dropped);
  await restoreSource(options);
  await expect(movePartition(options)).rejects.toThrow('Both have it');
  await abortMove({ ...options, discardTarget: true });
  for (const table of REPLICATED) expect([table, await countOf(second, table, dropped)]).toEqual([table, 0]);
  expect(
    await query(second, 'select from runtime.deployments where id = $1', [dropped.deployment.id]),
  ).toEqual([]);
  await homesRead();
  expect(await vi.waitFor(() => dropped.counter('x'))).toMatchObject({ state: { count: 1 } });
});

it('a target that owned a partition for a while is not taken for one that has it from before', async () => {
  const [, , , one] = planted as [Planted, Planted, Planted, Planted];
  const options = moving(one);
  await query(second, 'update runtime.partitions set generation = 9 where id = $1', [options.partition]);
  await expect(movePartition(options)).rejects.toThrow('has the generation 9 there, and 1 in the directory');
  await expect(abortMove(options)).rejects.toThrow('The target has owned the partition');
  await query(second, 'update runtime.partitions set generation = 1 where id = $1', [options.partition]);
  await abortMove(options);
});

it('ids go on beyond those of a database when a restored directory is accepted', async () => {
  const { source, directory } = moving(moved);
  await query(first, `select setval('directory.deployment_ids', 1)`);
  await acceptDisagreements(source, directory);
  const [ids] = await query<{ last: string }>(
    first,
    'select last_value as last from directory.deployment_ids',
  );
  expect(Number(ids?.last)).toBeGreaterThan(Math.max(...planted.map(({ deployment }) => deployment.id)));
});

it('a restore is accepted in steps, however many journals there are', async () => {
  const { source, directory } = moving(moved);
  await query(
    first,
    `insert into runtime.journal_heads (deployment_id, seq, hash, totals, active_minute)
      select n * 64 + 63, 0, '', '{}', 7 from generate_series(1000, 25000) n`,
  );
  await query(
    first,
    `create function few() returns trigger language plpgsql as $$ begin
        if (select count(*) from changed) > 10000 then raise 'too many at once'; end if; return null;
      end $$;
      create trigger few after update on runtime.journal_heads referencing new table as changed
        for each statement execute function few()`,
  );
  await query(first, 'update directory.homes set generation = generation + 5 where partition = 63');
  expect(await acceptDisagreements(source, directory)).toMatchObject([{ partition: 63 }]);
  expect(await query(first, 'select from runtime.journal_heads where active_minute = 7')).toEqual([]);
  expect(await acceptDisagreements(source, directory)).toEqual([]);
});
