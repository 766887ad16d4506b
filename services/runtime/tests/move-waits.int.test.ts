import { connect, type PoolLimits } from '@orrery/database';
import { createLogger, systemClock } from '@orrery/service-kit';
import { query, withClient } from '@orrery/testing/servers';
import { expect, it, onTestFinished, vi } from 'vitest';
import {
  abortMove,
  cleanMoved,
  type MoveNews,
  type MoveOptions,
  type MoveStep,
  movePartition,
  openRuntimeDatabase,
  type RuntimeSchema,
} from '../src/operator.js';
import { keysInSteps } from '../src/store/leases/moves/carried-rows.js';
import { deleteRows } from '../src/store/leases/moves/delete-rows.js';
import { type Planted, pausedAfter, prepareTwo } from './moving.js';

const { first, second, planted, moving } = await prepareTwo();
const logger = createLogger({ service: 'test', level: 'fatal' });
const [backedUp, cloned, interrupted, keyed] = planted as [Planted, Planted, Planted, Planted];

/** A move that is under way, and what it has told. */
function begin(options: MoveOptions, onStep: (step: MoveStep) => void = () => undefined) {
  const [news, steps] = [[] as MoveNews[], [] as MoveStep[]];
  const done = movePartition({
    ...options,
    onNews: (one) => news.push(one),
    onStep: (step) => {
      steps.push(step);
      onStep(step);
    },
  });
  done.catch(() => undefined);
  const held = () => news.filter(({ kind }) => kind === 'held');
  return { done, news, steps, held };
}

/** Connections whose statements have little time. */
async function hasty(url: string, limits: PoolLimits) {
  const options = { schema: 'runtime', applicationName: 'test', logger };
  const database = await connect<RuntimeSchema>({ ...options, ...limits, url });
  onTestFinished(() => database.close());
  return database.db;
}

/** A deployment in the first database that nobody executes at. */
const insertDeployment = (partition: number, world = 1) =>
  query(
    first,
    `insert into runtime.deployments (id, address, world_id, world_address, owner_account_id, name, mode, created_at, updated_at)
      overriding system value values (${64 * 100 + partition}, '0x${partition}', ${world}, '0x1', 1, 'Quiet', 'upgradable', now(), now())`,
  );

it('waits for a backup at its begin and at its end, and keeps executions from nothing meanwhile', async () => {
  // As pg_dump locks all tables.
  const held = 'begin; lock table runtime.runs, runtime.bindings, runtime.timers in access share mode';
  const letGo = Promise.withResolvers<void>();
  const switched = Promise.withResolvers<void>();
  const isLocked = Promise.withResolvers<void>();
  const ending = switched.promise.then(() =>
    withClient(`${first}&application_name=pg_dump`, async (client) => {
      await client.query(held);
      isLocked.resolve();
      await letGo.promise;
    }),
  );
  const move = await withClient(first, async (client) => {
    await client.query(`set application_name = 'pg_dump'; ${held}`);
    const move = begin(moving(backedUp), (step) => step === 'switched' && switched.resolve());
    await Promise.race([move.done, vi.waitFor(() => expect(move.held().length).toBeGreaterThan(1))]);
    await backedUp.execute({ id: 'x' });
    return move;
  });
  expect(move.held()[0]).toMatchObject({ by: expect.stringMatching(/^pg_dump, process \d+$/) });
  expect(move.steps).toEqual(['noted']);
  await isLocked.promise;
  const before = move.held().length;
  await Promise.race([move.done, vi.waitFor(() => expect(move.held().length).toBeGreaterThan(before))]);
  await backedUp.execute({ id: 'x' });
  letGo.resolve();
  await ending;
  await move.done;
  expect(move.steps.at(-1)).toBe('ended');
  // Nothing is to be set back any more.
  await withClient(first, async (client) => {
    await client.query(held);
    await cleanMoved(moving(backedUp));
  });
});

it('hands a partition over before it waits for who holds the subscription, as a backup of the target does', async () => {
  await insertDeployment(37);
  const news: MoveNews[] = [];
  const mover = pausedAfter(
    moving(interrupted, { partition: 37, onNews: (one) => news.push(one) }),
    'flushed',
  );
  const moved = { done: movePartition(mover.options) };
  moved.done.catch(() => undefined);
  await Promise.race([mover.reached, moved.done]);
  const home = () =>
    query<{ name: string }>(
      first,
      'select name from directory.homes h join directory.databases d on d.id = h.database where partition = 37',
    );
  await withClient(second, async (client) => {
    const [one] = await query<{ name: string }>(
      second,
      `select subname as name from pg_subscription where subname like 'orrery_move_37_%' and subslotname is null`,
    );
    await client.query(`begin; comment on subscription ${one?.name} is 'held'`);
    news.length = 0;
    mover.letGo();
    await Promise.race([
      moved.done,
      vi.waitFor(() => expect(news).toContainEqual({ kind: 'held', by: expect.any(String) })),
    ]);
    expect(await home()).toEqual([{ name: '2' }]);
  });
  await moved.done;
  await cleanMoved(moving(interrupted, { partition: 37 }));
});

it('is given back by an undoing that waits for a backup of the source', async () => {
  await insertDeployment(38);
  const stop = begin(moving(interrupted, { partition: 38 }), (step) => {
    if (step === 'fenced') throw new Error('stopped');
  });
  await expect(stop.done).rejects.toThrow('stopped');
  const news: MoveNews[] = [];
  const undoing = await withClient(first, async (client) => {
    await client.query('begin; lock table runtime.runs in access share mode');
    const undoing = {
      done: abortMove(moving(interrupted, { partition: 38, onNews: (one) => news.push(one) })),
    };
    undoing.done.catch(() => undefined);
    await Promise.race([
      undoing.done,
      vi.waitFor(() => expect(news).toContainEqual({ kind: 'held', by: expect.any(String) })),
    ]);
    expect(
      await query(first, 'select from runtime.partitions where id = 38 and generation > 0'),
    ).toHaveLength(1);
    return undoing;
  });
  await undoing.done;
});

it('lets statements over a whole partition take longer than others, while nobody owns it', async () => {
  await insertDeployment(39);
  const target = await hasty(second, { statementTimeoutMs: 6000 });
  await query(
    second,
    `create function runtime.slow() returns trigger language plpgsql as 'begin perform pg_sleep(7); return null; end';
    create trigger slow after insert on runtime.deployments for each statement execute function runtime.slow()`,
  );
  const move = begin(moving(interrupted, { partition: 39, target }));
  const isAgain = () => expect(move.news.map(({ kind }) => kind)).toContain('again');
  await Promise.race([move.done, vi.waitFor(isAgain)]);
  expect(move.steps.at(-1)).toBe('ended');
  await query(second, 'drop function runtime.slow cascade');
  await cleanMoved(moving(interrupted, { partition: 39 }));
});

/** Takes locks at the target once a mover has come so far: the server makes no slot beside a transaction that writes. */
async function lockedAfter(options: MoveOptions, step: MoveStep, locks: string, told: MoveNews['kind']) {
  const news: MoveNews[] = [];
  const mover = pausedAfter({ ...options, onNews: (one) => news.push(one) }, step);
  const moved = { done: movePartition(mover.options) };
  moved.done.catch(() => undefined);
  await Promise.race([mover.reached, moved.done]);
  const [here] = await withClient(second, async (client) => {
    await client.query(`begin; ${locks}`);
    mover.letGo();
    const isTold = () => expect(news.filter(({ kind }) => kind === told).length).toBeGreaterThan(1);
    await Promise.race([moved.done, vi.waitFor(isTold)]);
    return query<{ isHere: boolean }>(
      first,
      'select generation > 0 as "isHere" from runtime.partitions where id = $1',
      [options.partition],
    );
  });
  await moved.done;
  return here?.isHere;
}

it('raises the ids of the target while the source still owns the partition', async () => {
  await query(first, `select setval('runtime.id_blocks', 64 * 10000)`);
  const taking = `select nextval('runtime.id_blocks')`;
  expect(await lockedAfter(moving(cloned), 'in_step', taking, 'held')).toBe(true);
  const [block] = await query<{ last: string }>(second, 'select last_value as last from runtime.id_blocks');
  expect(Number(block?.last)).toBeGreaterThan(64 * 10000);
  expect(Number(block?.last) % 64).toBe(1);
});

it('does again in place what has no time while nobody owns the partition', async () => {
  const target = await hasty(second, { lockTimeoutMs: 100 });
  const options = moving(interrupted, { target });
  const row = `select from runtime.partitions where id = ${options.partition} for update`;
  expect(await lockedAfter(options, 'flushed', row, 'again')).toBe(false);
  await interrupted.execute({ id: 'x' });
});

it('counts from the first fence, and carries again only the keys of the last minutes', async () => {
  const { partition } = moving(keyed);
  const key = (name: string, age: string) =>
    query(
      first,
      `insert into runtime.idempotency_keys (account_id, operation, key, request_hash, reply, created_at)
        values (1, $1, $2, '', '{}', now() - $3::interval)`,
      [`execute ${keyed.deployment.id}`, name, age],
    );
  await key('old', '1 hour');
  const stop = begin(moving(keyed), (step) => {
    if (step === 'fenced') throw new Error('stopped');
  });
  await expect(stop.done).rejects.toThrow('stopped');
  const keys = 'select key from runtime.idempotency_keys order by key';
  expect(await query(second, keys)).toContainEqual({ key: 'old' });
  await query(second, 'delete from runtime.idempotency_keys');
  await key('new', '0');
  await query(
    first,
    `update runtime.partitions set expires_at = expires_at - interval '1 minute' where id = ${partition}`,
  );
  const ownerless: (number | undefined)[] = [];
  await movePartition(
    moving(keyed, { onStep: (step, ms) => void (step === 'switched' && ownerless.push(ms)) }),
  );
  const [ms = 0] = ownerless;
  expect(ms).toBeGreaterThan(60_000);
  const there = (await query<{ key: string }>(second, keys)).map((one) => one.key);
  expect(there).toContain('new');
  expect(there).not.toContain('old');
  await query(first, 'delete from runtime.idempotency_keys');
  await query(second, 'delete from runtime.idempotency_keys');
});

/** Rows of a table that statements have read, once their sessions have told. */
async function readOf(url: string, table: string): Promise<number> {
  const [row] = await query<{ rows: string }>(
    url,
    'select seq_tup_read + idx_tup_fetch as rows from pg_stat_user_tables where relname = $1',
    [table],
  );
  return Number(row?.rows);
}

it('looks through keys a few times, however many they are', async () => {
  const KEYS = 20_000;
  const { partition, ...between } = moving(interrupted, { partition: 33 });
  await query(
    first,
    `insert into runtime.idempotency_keys (account_id, operation, key, request_hash, reply, created_at)
      select 1, 'execute ' || (n * 64 + 33), n, '', '{}', now() - n * interval '1 second' from generate_series(1, ${KEYS}) n`,
  );
  await insertDeployment(partition);
  await query(first, 'analyze runtime.idempotency_keys');
  const before = await readOf(first, 'idempotency_keys');
  {
    await using source = await openRuntimeDatabase({ databaseUrl: first, logger, maxConnections: 1 });
    await movePartition({ ...between, partition, source: source.db });
    await cleanMoved({ ...between, partition, source: source.db });
  }
  expect(await query(second, 'select from runtime.idempotency_keys')).toHaveLength(KEYS);
  expect(await query(first, 'select from runtime.idempotency_keys')).toEqual([]);
  await vi.waitFor(async () =>
    expect((await readOf(first, 'idempotency_keys')) - before).toBeGreaterThan(KEYS),
  );
  // To carry and to delete: each time the ends of the steps, and their keys.
  expect((await readOf(first, 'idempotency_keys')) - before).toBeLessThan(8 * KEYS);
});

it('looks through the keys that are there, however fast others arrive', async () => {
  const insertKeys = (count: number, apart: string) =>
    query(
      second,
      `insert into runtime.idempotency_keys (account_id, operation, key, request_hash, reply, created_at)
        select 1, 'execute 1', gen_random_uuid(), '', '{}', now() - n * $2::interval from generate_series(1, $1::int) n`,
      [count, apart],
    );
  await query(second, 'delete from runtime.idempotency_keys');
  await insertKeys(30, '1 second');
  await using other = await openRuntimeDatabase({ databaseUrl: second, logger, maxConnections: 1 });
  let steps = 0;
  for await (const _ of keysInSteps(other.db, 40, '-infinity', 10)) {
    steps += 1;
    await insertKeys(20, '1 microsecond');
    if (steps === 10) break;
  }
  expect(steps).toBe(3);
});

it('looks through a table once that no index leads through by deployment, however many deployments go', async () => {
  const ROWS = 20_000;
  await query(
    second,
    `insert into runtime.once_keys (scope, key, request_hash, deployment_id, created_at)
      select 'test', n, '', n, now() from generate_series(1, ${ROWS}) n`,
  );
  const before = await readOf(second, 'once_keys');
  const ids = Array.from({ length: 450 }, (_, n) => n * 64 + 34);
  let deleted = 0;
  {
    await using other = await openRuntimeDatabase({ databaseUrl: second, logger, maxConnections: 1 });
    await deleteRows(other.db, 34, ids, (rows) => (deleted += rows));
  }
  expect(deleted).toBe(Math.floor((ROWS - 34) / 64) + 1);
  await vi.waitFor(async () => expect((await readOf(second, 'once_keys')) - before).toBeGreaterThan(0));
  expect((await readOf(second, 'once_keys')) - before).toBeLessThan(2 * ROWS);
});

it('carries each definition that the target lacks once', async () => {
  const { partition } = moving(interrupted, { partition: 35 });
  await insertDeployment(partition, 77);
  const define = (url: string, from: number, to: number) =>
    query(
      url,
      `insert into runtime.definitions select world, n, '{}' from generate_series(${from}, ${to}) n, (values (77), (78)) w (world)`,
    );
  await define(first, 1, 6000);
  await define(second, 10, 300);
  await movePartition(moving(interrupted, { partition }));
  const [there] = await query(
    second,
    'select count(*) filter (where world_id = 77)::int as own, count(*) filter (where world_id = 78)::int as others from runtime.definitions',
  );
  expect(there).toEqual({ own: 6000, others: 291 });
  await cleanMoved(moving(interrupted, { partition }));
});

it('tells how much an undoing has deleted', async () => {
  const news: MoveNews[] = [];
  const { partition } = moving(planted[3] as Planted, { partition: 36 });
  await query(
    first,
    `insert into runtime.deployments (id, address, world_id, world_address, owner_account_id, name, mode, created_at, updated_at)
      overriding system value values (${64 * 100 + 36}, '0x36', 1, '0x1', 1, 'Told', 'upgradable', now(), now())`,
  );
  await query(
    first,
    `insert into runtime.journal_heads (deployment_id, seq, hash, totals) values (${64 * 100 + 36}, 0, '', '{}')`,
  );
  const options = moving(interrupted, { partition, onNews: (one) => news.push(one), clock: systemClock });
  const stop = begin(options, (step) => {
    if (step === 'in_step') throw new Error('stopped');
  });
  await expect(stop.done).rejects.toThrow('stopped');
  await abortMove(options);
  expect(news).toContainEqual({ kind: 'rows_deleted', rows: 1 });
});
