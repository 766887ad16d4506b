import { connect } from '@orrery/database';
import { createLogger, systemClock } from '@orrery/service-kit';
import { createTestDatabase } from '@orrery/testing';
import { query, withClient } from '@orrery/testing/servers';
import { type KyselyPlugin, type QueryId, sql } from 'kysely';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  abortMove,
  cleanMoved,
  lastingDisagreements,
  type MoveProgress,
  type MoveStep,
  movePartition,
  openRuntimeDatabase,
  type RuntimeSchema,
} from '../src/operator.js';
import { takeOverPauses } from '../src/store/deployments/pauses-elsewhere.js';
import { MOVED_TABLES, REPLICATED } from '../src/store/leases/moves/moved-tables.js';
import { type Planted, pausedAfter, prepareTwo, STEPS, startLoad } from './moving.js';
import { plantDeployment } from './running-runtime.js';

const { house, first, second, planted, moving } = await prepareTwo();
const logger = createLogger({ service: 'test', level: 'fatal' });
const [busy, quiet, undone, still] = planted as [Planted, Planted, Planted, Planted];
const world = { worldAddress: String(house.catalog.world.id) };

/** Rows of a table that are of a deployment. */
const rowsIn = async (url: string, table: string, { deployment }: Planted) => {
  const rows = await query<{ row: string }>(
    url,
    `select to_json(t)::text as row from runtime.${table} t where deployment_id = $1`,
    [deployment.id],
  );
  return rows.map(({ row }) => row).sort();
};
const idsIn = async (url: string) =>
  (await query<{ id: string }>(url, 'select id from runtime.deployments')).map(({ id }) => Number(id));
const left = async (url: string) => [
  ...(await query(url, `select pubname from pg_publication where pubname like 'orrery%'`)),
  ...(await query(url, `select slot_name from pg_replication_slots where database = current_database()`)),
  ...(await query(
    url,
    `select s.subname from pg_subscription s join pg_database d on d.oid = s.subdbid where d.datname = current_database()`,
  )),
  ...(await query(
    url,
    `select relname from pg_class where relnamespace = 'runtime'::regnamespace and relreplident = 'f'`,
  )),
];
const subscriptionName = async () => {
  const [subscription] = await query<{ name: string }>(
    second,
    `select subname as name from pg_subscription s join pg_database d on d.oid = s.subdbid
      where d.datname = current_database()`,
  );
  return subscription?.name;
};
/** Whether the partition of a deployment is in a database. */
const isIn = async (url: string, { deployment }: Planted) => {
  const [row] = await query<{ here: boolean }>(
    url,
    'select generation > 0 as here from runtime.partitions where id = $1',
    [deployment.id % 64],
  );
  return row?.here;
};
const waitsAtSecond = async () =>
  expect(
    await query(
      second,
      `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    ),
  ).toHaveLength(1);
const listed = async () =>
  (await house.call('deployments.list', { params: world, query: { page: 1, limit: 50 } })).data.map(
    ({ id }) => id,
  );

/** Ends a mover right after a step. */
const stopAt = (last: MoveStep) => (step: MoveStep) => {
  if (step === last) throw new Error(`stopped at ${step}`);
};

/** A move that is left half done would fail the next test, too. */
beforeEach(({ onTestFailed }) =>
  onTestFailed(() =>
    abortMove(moving(undone)).then(
      () => undefined,
      () => undefined,
    ),
  ),
);

it('each table has a line that says how it moves', async () => {
  const tables = await query<{ name: string }>(
    first,
    `select table_name as name from information_schema.tables where table_schema = 'runtime' and table_type = 'BASE TABLE'`,
  );
  expect(Object.keys(MOVED_TABLES).sort()).toEqual(tables.map(({ name }) => name).sort());
  const columns = await query<{ name: string }>(
    first,
    `select table_name as name from information_schema.columns where table_schema = 'runtime'
      and column_name = 'deployment_id' and table_name = any($1)`,
    [Object.keys(MOVED_TABLES)],
  );
  expect(columns.map(({ name }) => name).sort()).toEqual([...REPLICATED, 'attribute_indexes'].sort());
});

describe('a partition that moves', () => {
  it('loses nothing that was acknowledged, and refuses nothing', async () => {
    const load = startLoad([busy, still]);
    onTestFinished(load.stop);
    await vi.waitFor(() => expect(load.acknowledged(busy)).toBeGreaterThan(5));
    const [before] = await query<{ id: string }>(first, 'select max(id) as id from runtime.instances');
    const steps: MoveStep[] = [];
    const listing = { stopped: false, lengths: new Set<number>() };
    onTestFinished(() => {
      listing.stopped = true;
    });
    const listings = (async () => {
      while (!listing.stopped) listing.lengths.add((await listed()).length);
    })();
    await movePartition(moving(busy, { onStep: (step) => steps.push(step) }));
    const moved = load.acknowledged(busy);
    await vi.waitFor(() => expect(load.acknowledged(busy)).toBeGreaterThan(moved + 5));
    listing.stopped = true;
    await listings;
    await load.stop();
    expect(steps.at(-1)).toBe('ended');
    expect([...listing.lengths]).toEqual([planted.length]);
    for (const one of [busy, still]) {
      expect(await one.counter('x')).toMatchObject({ state: { count: load.acknowledged(one) } });
      expect(await one.verify()).toMatchObject({ valid: true });
    }
    expect(await idsIn(second)).toEqual([busy.deployment.id]);
    expect(await idsIn(first)).not.toContain(busy.deployment.id);
    await busy.execute({ id: 'later' });
    const [after] = await query<{ id: string }>(second, 'select max(id) as id from runtime.instances');
    expect(Number(after?.id)).toBeGreaterThan(Number(before?.id));
  });

  it('takes every row along, and leaves nothing after --clean', async () => {
    await quiet.execute({ id: 'x' });
    const once = { headers: { 'idempotency-key': 'moved' } };
    const answer = await quiet.execute({ id: 'x' }, once);
    const deleted = await plantDeployment(house);
    await movePartition(moving(quiet));
    for (const table of REPLICATED.filter((name) => name !== 'journal_heads'))
      expect([table, ...(await rowsIn(second, table, quiet))]).toEqual([
        table,
        ...(await rowsIn(first, table, quiet)),
      ]);
    expect(await quiet.execute({ id: 'x' }, once)).toEqual(answer);
    expect(await quiet.counter('x')).toMatchObject({ state: { count: 2 } });
    await expect(
      movePartition(moving(quiet, { partition: deleted.deployment.id % 64, source: moving(quiet).target })),
    ).rejects.toThrow();
    expect(await cleanMoved(moving(quiet))).toBeGreaterThan(0);
    for (const table of REPLICATED) expect(await rowsIn(first, table, quiet)).toEqual([]);
    expect(await quiet.verify()).toMatchObject({ valid: true });
    expect([await left(first), await left(second)]).toEqual([[], []]);
  });

  it('is back where it was when it is undone, whatever step it had reached', async () => {
    for (const step of ['noted', 'subscribed', 'fenced', 'flushed', 'arrived'] as const) {
      await undone.execute({ id: 'x' });
      await expect(movePartition(moving(undone, { onStep: stopAt(step) }))).rejects.toThrow(step);
      // It waits where nobody has the partition.
      const asked = undone.execute({ id: 'x' });
      await abortMove(moving(undone));
      await asked;
      expect(await idsIn(second)).not.toContain(undone.deployment.id);
      for (const table of REPLICATED) expect(await rowsIn(second, table, undone)).toEqual([]);
      await undone.execute({ id: 'x' });
      expect([await left(first), await left(second)]).toEqual([[], []]);
    }
    expect(await undone.counter('x')).toMatchObject({ state: { count: 15 } });
    expect(await undone.verify()).toMatchObject({ valid: true });
  });

  it('ends, and tells why it waits, when it is undone while rows cannot be copied', async () => {
    const told: MoveProgress[] = [];
    await query(second, `insert into runtime.journal_heads values ($1, 1, 'in the way', '{}')`, [
      undone.deployment.id,
    ]);
    const moved = movePartition(moving(undone, { onProgress: (progress) => told.push(progress) }));
    moved.catch(() => undefined);
    await vi.waitFor(() => expect(told.some(({ errors }) => errors > 0)).toBe(true));
    expect(told.at(-1)).toMatchObject({ isCopied: false, isFollowed: expect.any(Boolean) });
    await query(first, 'update directory.moves set undone = true');
    await expect(moved).rejects.toThrow('was undone meanwhile');
    await abortMove(moving(undone));
    expect([await left(first), await left(second)]).toEqual([[], []]);
  });

  it('waits for transactions of its server that take longer than a statement may', async () => {
    const statementTimeoutMs = 3000;
    const hasty = { url: first, schema: 'runtime', applicationName: 'hasty', logger, lockTimeoutMs: 2000 };
    await using source = await connect<RuntimeSchema>({ ...hasty, statementTimeoutMs });
    const elsewhere = (await createTestDatabase()).url;
    const moved = await withClient(elsewhere, async (client) => {
      await client.query('begin; create table written_to ()');
      const moved = {
        done: movePartition(moving(undone, { source: source.db, onStep: stopAt('published') })),
      };
      moved.done.catch(() => undefined);
      const waiting = `select from pg_stat_activity where application_name = 'hasty' and state = 'active'
        and query like '%pg_create_logical_replication_slot%'`;
      await vi.waitFor(async () => expect(await query(first, waiting)).toHaveLength(1));
      // The driver gives a statement up five seconds after its bound.
      await Promise.race([systemClock.sleep(statementTimeoutMs + 6000), moved.done]);
      await client.query('commit');
      return moved;
    });
    await expect(moved.done).rejects.toThrow('stopped at published');
    await abortMove(moving(undone));
  });

  it('is as before when it is undone beside a mover that goes on', async () => {
    for (const step of ['noted', 'published', 'in_step', 'flushed'] as const) {
      const mover = pausedAfter(moving(undone), step);
      const moved = movePartition(mover.options);
      moved.catch(() => undefined);
      await mover.reached;
      await abortMove(moving(undone));
      mover.letGo();
      await expect(moved).rejects.toThrow('was undone meanwhile');
      expect([await isIn(first, undone), await isIn(second, undone)]).toEqual([true, false]);
      expect([await left(first), await left(second)]).toEqual([[], []]);
      await undone.execute({ id: 'beside' });
    }
    expect(await undone.counter('beside')).toMatchObject({ state: { count: 4 } });
  });

  it('leaves no slot that it makes after it was undone', async () => {
    const [reached, letGo] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const before = new Set<QueryId>();
    const pausing: KyselyPlugin = {
      transformQuery: ({ node, queryId }) => {
        // The statement before the slot is made.
        if (node.kind === 'RawNode' && node.sqlFragments[0]?.includes('pg_drop_replication_slot'))
          before.add(queryId);
        return node;
      },
      transformResult: async ({ result, queryId }) => {
        if (!before.has(queryId)) return result;
        reached.resolve();
        await letGo.promise;
        return result;
      },
    };
    const { source } = moving(undone);
    const moved = movePartition(moving(undone, { source: source.withPlugin(pausing) }));
    moved.catch(() => undefined);
    await Promise.race([reached.promise, moved]);
    await abortMove(moving(undone));
    letGo.resolve();
    await expect(moved).rejects.toThrow('was undone meanwhile');
    expect([await left(first), await left(second)]).toEqual([[], []]);
  });

  it('leaves no slot at the source when the target cannot reach that', async () => {
    await query(second, `insert into runtime.journal_heads values ($1, 1, 'in the way', '{}')`, [
      undone.deployment.id,
    ]);
    const moved = movePartition(moving(undone));
    moved.catch(() => undefined);
    const ofCopies = `select from pg_replication_slots where database = current_database() and slot_name like '%sync%'`;
    await vi.waitFor(async () => expect(await query(first, ofCopies)).toHaveLength(1));
    const name = await subscriptionName();
    for (const what of ['disable', `connection 'host=/nowhere dbname=none'`])
      await query(second, `alter subscription ${name} ${what}`);
    await abortMove(moving(undone));
    await expect(moved).rejects.toThrow('was undone meanwhile');
    expect([await left(first), await left(second)]).toEqual([[], []]);
  });

  it('is undone where a mover lets it arrive in that moment', async () => {
    await expect(movePartition(moving(undone, { onStep: stopAt('flushed') }))).rejects.toThrow('flushed');
    const { target, partition } = moving(undone);
    const undoing = await target.transaction().execute(async (trx) => {
      await sql`update partitions set generation = 9 where id = ${partition}`.execute(trx);
      const undoing = { done: abortMove(moving(undone)) };
      await Promise.race([undoing.done, vi.waitFor(waitsAtSecond)]);
      return undoing;
    });
    await undoing.done;
    expect([await isIn(first, undone), await isIn(second, undone)]).toEqual([true, false]);
  });

  it('ends when another mover has ended the subscription', async () => {
    await query(second, `insert into runtime.journal_heads values ($1, 1, 'in the way', '{}')`, [
      undone.deployment.id,
    ]);
    const subscribed = Promise.withResolvers<void>();
    const onStep = (step: MoveStep) => step === 'subscribed' && subscribed.resolve();
    const moved = movePartition(moving(undone, { onStep }));
    moved.catch(() => undefined);
    await subscribed.promise;
    const name = await subscriptionName();
    for (const what of ['disable', 'set (slot_name = none)'])
      await query(second, `alter subscription ${name} ${what}`);
    await query(second, `drop subscription ${name}`);
    await expect(moved).rejects.toThrow('Another command has ended the subscription');
    await abortMove(moving(undone));
  });

  it('does not go on without its slot, as after a failover, and loses nothing when it is undone', async () => {
    for (const step of ['in_step', 'fenced'] as const) {
      await expect(movePartition(moving(undone, { onStep: stopAt(step) }))).rejects.toThrow(step);
      const name = await subscriptionName();
      await query(second, `alter subscription ${name} disable`);
      await vi.waitFor(() => query(first, 'select pg_drop_replication_slot($1)', [name]));
      if (step === 'in_step') await undone.execute({ id: 'unkept' });
      await query(second, `alter subscription ${name} enable`);
      await expect(movePartition(moving(undone))).rejects.toThrow('slot of the move is gone');
      await abortMove(moving(undone));
      expect([await left(first), await left(second)]).toEqual([[], []]);
    }
    expect(await undone.counter('unkept')).toMatchObject({ state: { count: 1 } });
    await movePartition(moving(undone, { onStep: stopAt('in_step') })).catch(() => undefined);
    expect(await rowsIn(second, 'journal', undone)).toEqual(await rowsIn(first, 'journal', undone));
    await abortMove(moving(undone));
  });

  it('goes on where a mover stopped while it ended the subscription', async () => {
    const [disable, letGo] = ['disable', 'set (slot_name = none)'];
    for (const done of [[disable], [disable, letGo]]) {
      await expect(movePartition(moving(undone, { onStep: stopAt('fenced') }))).rejects.toThrow('fenced');
      const name = await subscriptionName();
      for (const what of done) await query(second, `alter subscription ${name} ${what}`);
      await expect(movePartition(moving(undone, { onStep: stopAt('flushed') }))).rejects.toThrow('flushed');
      await abortMove(moving(undone));
      expect([await left(first), await left(second)]).toEqual([[], []]);
    }
  });

  it('refuses a target that has the partition from before, until that is deleted', async () => {
    const { partition } = moving(undone);
    await query(second, 'update runtime.partitions set generation = 3 where id = $1', [partition]);
    await expect(movePartition(moving(undone))).rejects.toThrow('has the partition');
    await undone.execute({ id: 'refused' });
    await abortMove(moving(undone));
    expect([await isIn(first, undone), await isIn(second, undone)]).toEqual([true, false]);
  });

  it('can be undone where it is empty', async () => {
    const taken = new Set(planted.map(({ deployment }) => deployment.id % 64));
    const partition = [60, 61, 62, 63, 59].find((one) => !taken.has(one)) ?? 0;
    const empty = moving(undone, { partition });
    const moved = await empty.target.transaction().execute(async (trx) => {
      await sql`select from partitions where id = ${partition} for update`.execute(trx);
      const moved = { done: movePartition(empty) };
      moved.done.catch(() => undefined);
      await vi.waitFor(waitsAtSecond);
      await query(first, 'update directory.moves set undone = true where partition = $1', [partition]);
      return moved;
    });
    await expect(moved.done).rejects.toThrow('was undone meanwhile');
    const held = 'select generation > 0 as here from runtime.partitions where id = $1';
    expect(await query(second, held, [partition])).toEqual([{ here: false }]);
    await abortMove(empty);
    expect([...(await query(first, held, [partition])), ...(await query(second, held, [partition]))]).toEqual(
      [{ here: true }, { here: false }],
    );
    await movePartition(empty);
    expect(await query(first, 'select from directory.moves where partition = $1', [partition])).toEqual([]);
  });

  it('lets a process start at the source while nobody has the partition', async () => {
    await expect(movePartition(moving(undone, { onStep: stopAt('fenced') }))).rejects.toThrow('fenced');
    await using another = await house.boot({ databaseUrl: first });
    await another.context.homes.read();
    const { source, target, directory, partition } = moving(undone);
    // An operator pauses a deployment that neither database has now: it is paused where it will be.
    const asked = 'select done from directory.operator_pauses where deployment_id = $1';
    const id = undone.deployment.id;
    await query(first, 'insert into directory.operator_pauses (deployment_id, paused) values ($1, true)', [
      id,
    ]);
    await takeOverPauses(source, directory, [partition]);
    expect(await query(first, asked, [id])).toEqual([{ done: false }]);
    await abortMove(moving(undone));
    await vi.waitFor(async () => expect(await query(first, asked, [id])).toEqual([{ done: true }]));
    await expect(undone.execute({ id: 'x' })).rejects.toMatchObject({ code: 'deployment_paused' });
    await query(first, 'update directory.operator_pauses set paused = false, done = false');
    await vi.waitFor(async () => expect(await query(first, asked, [id])).toEqual([{ done: true }]));
    // A partition that no move has taken away is missed, and the others are served.
    const setTo = (generation: string) =>
      query(first, `update runtime.partitions set generation = ${generation} where id = ${partition}`);
    const there = `(select generation from directory.homes where partition = ${partition})`;
    await setTo('0');
    await using third = await house.boot({ databaseUrl: first });
    await third.context.homes.read();
    expect(await lastingDisagreements(source, directory)).toMatchObject([{ partition, here: 0 }]);
    expect(await lastingDisagreements(target, directory)).toEqual([]);
    await setTo(there);
  });

  it('goes on from any step, and cannot be undone once it has moved', async () => {
    for (const last of STEPS) {
      await expect(movePartition(moving(undone, { onStep: stopAt(last) }))).rejects.toThrow(last);
    }
    await movePartition(moving(undone));
    await expect(abortMove(moving(undone))).rejects.toThrow('has moved');
    await undone.execute({ id: 'x' });
    expect(await undone.counter('x')).toMatchObject({ state: { count: 16 } });
    expect(await undone.verify()).toMatchObject({ valid: true });
    const third = { databaseUrl: (await createTestDatabase()).url, logger, maxConnections: 1 };
    await using other = await openRuntimeDatabase(third);
    for (const work of [cleanMoved, movePartition])
      await expect(work(moving(undone, { source: other.db }))).rejects.toThrow('between other databases');
    await cleanMoved(moving(undone));
  });
});
