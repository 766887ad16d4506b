import type { PushStatus } from '@orrery/contracts';
import { connect, transaction } from '@orrery/database';
import { createLogger } from '@orrery/service-kit';
import { rowsRead } from '@orrery/testing';
import { type RawBuilder, sql } from 'kysely';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { storeAccounts } from '../src/store/accounts/account-store.js';
import { requestAdoption } from '../src/store/lanes/adopt-lane.js';
import { cancelUnsent, sweepCancelled } from '../src/store/lanes/cancel-unsent.js';
import { backlogOf, lanesWithWork } from '../src/store/lanes/lane-store.js';
import { listPushes, pushesOf } from '../src/store/pushes/push-store.js';
import type { ChainPusherSchema, Db } from '../src/store/tables/schema.js';
import { adoptParts, chainDouble, moreParts, prepareSending } from './sending-house.js';

const chain = 'local';
const { signal } = new AbortController();
const rowsOf = (db: Db) =>
  db
    .selectFrom('pushes')
    .select(['number', 'status', 'content', 'digest'])
    .where('deployment', '=', 'a')
    .orderBy('number')
    .execute();
const laneOf = (db: Db) =>
  db
    .selectFrom('lanes')
    .select(['last_number', 'sent_number', 'cancels', 'stop'])
    .where('deployment', '=', 'a')
    .executeTakeFirstOrThrow();

/** Adds pushes that wait, after this many. */
const queue = (db: Db, from: number, to: number) =>
  sql`
  with waiting as (
    insert into pushes (deployment, chain, number, history_id, seq, entry_hash, digest, content, truncated)
    select 'a', ${chain}, number, gen_random_uuid(), number, 'e', 'd' || number, '{"number":' || number || '}', false
    from generate_series(${from}::int, ${to}::int) as number
  )
  insert into lanes (deployment, chain, last_number) values ('a', ${chain}, ${to})
  on conflict (deployment, chain) do update set last_number = excluded.last_number`.execute(db);

/** Three pushes, of which one was sent, and a deletion. */
async function prepareDeleted() {
  const house = await prepareSending();
  await queue(house.db, 1, 3);
  await house.db.updateTable('lanes').set({ sent_number: 1 }).execute();
  await house.db.updateTable('pushes').set({ status: 'submitted' }).where('number', '=', 1).execute();
  await transaction(house.db, (trx) => cancelUnsent(trx, 'a'));
  return house;
}

it('a deletion stops a lane whatever waits in it: it writes none of these rows', async () => {
  const { databaseUrl, db } = await prepareSending();
  await queue(db, 1, 3);
  const logger = createLogger({ service: 'test', level: 'silent' });
  const options = { schema: 'chain_pusher', applicationName: 'test', maxConnections: 1, logger };
  const hasty = await connect<ChainPusherSchema>({ ...options, url: databaseUrl, statementTimeoutMs: 300 });
  onTestFinished(() => hasty.close());
  // As many rows would, a row that is locked keeps a statement that writes it busy.
  await transaction(db, async (trx) => {
    await sql`select from pushes where number = 3 for update`.execute(trx);
    await transaction(hasty.db, (other) => cancelUnsent(other, 'a'));
  });
  expect(await laneOf(db)).toMatchObject({ last_number: 0, sent_number: 0 });
});

it('what a deletion has cancelled reads so before its rows are rewritten, and after', async () => {
  const { db } = await prepareDeleted();
  const list = async (state?: PushStatus) => {
    const { rows, count } = await listPushes(db, 'a', { state }, { page: 1, limit: 10 });
    expect(count.total).toBe(rows.length);
    return rows.map(({ number, status }) => [number, status]);
  };
  const expectCancelled = async () => {
    expect(await list()).toEqual([
      [3, 'cancelled'],
      [2, 'cancelled'],
      [1, 'submitted'],
    ]);
    expect(await list('cancelled')).toEqual([
      [3, 'cancelled'],
      [2, 'cancelled'],
    ]);
    expect(await list('queued')).toEqual([]);
    expect(await list('submitted')).toEqual([[1, 'submitted']]);
    const { rows } = await sql<{ id: string }>`select history_id as id from pushes where number = 3`.execute(
      db,
    );
    expect(await pushesOf(db, 'a', [rows[0]?.id ?? ''])).toMatchObject([{ status: 'cancelled' }]);
  };
  await expectCancelled();
  expect((await rowsOf(db)).map(({ status }) => status)).toEqual(['submitted', 'queued', 'queued']);
  await sweepCancelled(db, signal);
  await expectCancelled();
  expect((await rowsOf(db)).map(({ content }) => content)).toEqual(['{"number":1}', null, null]);
  expect(await laneOf(db)).toMatchObject({ cancels: false });
});

it('a sweep rewrites more than it can at once', async () => {
  const { db } = await prepareDeleted();
  await queue(db, 4, 2500);
  await db.updateTable('lanes').set({ last_number: 1 }).execute();
  await sweepCancelled(db, signal);
  const statuses = (await rowsOf(db)).map(({ status }) => status);
  expect(statuses.filter((status) => status === 'cancelled')).toHaveLength(2499);
});

it('an adoption waits for the sweep, and lets nothing go on that a deletion has cancelled', async () => {
  const { db } = await prepareDeleted();
  expect(await adoptParts(db, 'a', 1)).toBe('waits');
  await sweepCancelled(db, signal);
  expect(await moreParts(db, 'a', 1)).toBe('done');
  expect(await laneOf(db)).toMatchObject({ last_number: 1, sent_number: 1 });
});

it.each([3, 2500])(
  'a lane with %i pushes that wait goes on after the last number of the chain',
  async (count) => {
    const { db } = await prepareSending();
    await queue(db, 1, count);
    expect(await adoptParts(db, 'a', 2)).toBe('done');
    const rows = await rowsOf(db);
    const numbers = Array.from({ length: count }, (_, at) => at + 3);
    expect(rows.map(({ number }) => number)).toEqual(numbers);
    expect(rows.map(({ content }) => content)).toEqual(numbers.map((number) => `{"number":${number}}`));
    expect(await laneOf(db)).toMatchObject({ last_number: count + 2, sent_number: 2 });
  },
);

it('a lane that a replaced registry has stopped pushes the digests of what that lacks again', async () => {
  const { db } = await prepareSending();
  await queue(db, 1, 4);
  await db.updateTable('lanes').set({ sent_number: 2, stop: 'failed' }).execute();
  const set = (number: number, status: PushStatus, content: string | null) =>
    db.updateTable('pushes').set({ status, content }).where('number', '=', number).execute();
  for (const number of [1, 2]) await set(number, 'finalized', null);
  await set(3, 'failed', '{"number":3}');
  expect(await adoptParts(db, 'a', 0)).toBe('done');
  const rows = await db
    .selectFrom('pushes')
    .select(['number', 'status', 'truncated'])
    .orderBy('number')
    .execute();
  expect(rows.map(({ number, truncated }) => [number, truncated])).toEqual([
    [1, true],
    [2, true],
    [3, false],
    [4, false],
  ]);
  expect(new Set(rows.map(({ status }) => status))).toEqual(new Set(['queued']));
  expect(await laneOf(db)).toMatchObject({ last_number: 4, sent_number: 0, stop: null });
});

it('an adoption that fails keeps no other lane waiting', async () => {
  const { db, lines, lane: otherLane, start } = await prepareSending();
  await queue(db, 1, 1);
  await db.updateTable('pushes').set({ content: 'no JSON' }).execute();
  await db.updateTable('lanes').set({ stop: 'chain_ahead' }).execute();
  await requestAdoption(db, 'a', chain);
  await otherLane('b', 1);
  const { port, pushed } = chainDouble({ lastNumber: async () => 5 });
  await start(port);
  await vi.waitFor(() => expect(pushed).toMatchObject([{ deployment: 'b' }]));
  expect(lines.join('')).toContain('a lane could not be adopted');
});

describe('of thousands of lanes, only those are read', () => {
  /** As many lanes with nothing to send, of one account. */
  async function prepareLanes() {
    const { db } = await prepareSending();
    await sql`
      with owned as (insert into deployments select 'd' || at, 1 from generate_series(1, 3000) at)
      insert into lanes (deployment, chain, last_number, sent_number)
      select 'd' || at, ${chain}, 1, 1 from generate_series(1, 3000) at`.execute(db);
    await sql`analyze deployments`.execute(db);
    return db;
  }
  const change = (db: Db, from: number, to: number, set: RawBuilder<unknown>) =>
    sql`
      update lanes set ${set} where deployment in (select 'd' || at from generate_series(${from}::int, ${to}::int) at)`.execute(
      db,
    );
  const waits = sql`last_number = 2, waits_for = 'quota_exceeded', wait_until = now() + interval '1 hour'`;

  it('whose turn it is', async () => {
    const db = await prepareLanes();
    await change(db, 1, 1000, waits);
    await change(db, 1001, 1002, sql`last_number = 2, wait_until = now() - interval '1 hour'`);
    await change(db, 1003, 1003, sql`last_number = 2`);
    const found: unknown[] = [];
    const read = await rowsRead(db, 'lanes', async (trx) => {
      for (const { deployment } of await lanesWithWork(trx, chain, 16)) found.push(deployment);
    });
    expect([found[0], found.slice(1).toSorted()]).toEqual(['d1003', ['d1001', 'd1002']]);
    expect(read).toBe(3);
  });

  it('that have something to send, or have stopped', async () => {
    const db = await prepareLanes();
    await change(db, 1, 2, sql`last_number = 3`);
    await change(db, 3, 3, sql`last_number = 2, stop = 'failed'`);
    const read = await rowsRead(db, 'lanes', async (trx) =>
      expect(await backlogOf(trx, chain)).toMatchObject({ pushes: 5, stopped: 1 }),
    );
    expect(read).toBe(3);
  });

  it('that wait for a quota, where accounts are compared', async () => {
    const db = await prepareLanes();
    await change(db, 1, 2, waits);
    const state = { accountId: 1, disabled: false, quotas: {}, revision: 1 };
    const read = await rowsRead(db, 'lanes', (trx) => storeAccounts(trx, [state]));
    // Each is found, locked and written.
    expect(read).toBeLessThan(20);
    expect(await lanesWithWork(db, chain, 16)).toHaveLength(2);
  });
});
