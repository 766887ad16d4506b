import { transaction } from '@orrery/database';
import { sql } from 'kysely';
import { expect, it, vi } from 'vitest';
import { openAdoptions, requestAdoption } from '../src/store/lanes/adopt-lane.js';
import { cancelUnsent, sweepCancelled } from '../src/store/lanes/cancel-unsent.js';
import { compareLane } from '../src/store/lanes/compare-lane.js';
import { nextNumber } from '../src/store/lanes/lane-store.js';
import { stopLost } from '../src/store/lanes/lost-entries.js';
import type { Db } from '../src/store/tables/schema.js';
import { adoptParts, chainDouble, moreParts, prepareSending } from './sending-house.js';

const chain = 'local';
const lane = { deployment: 'a', chain };
const { signal } = new AbortController();
const MOST_AT_ONCE = 1000;

interface LaneOfOptions {
  readonly sent?: number;
  readonly last: number;
  /** Numbers that only the chain has, as after an adoption. */
  readonly gap?: { readonly from: number; readonly to: number };
}

/** A lane whose pushes up to `sent` are final. The entry of each push has its place in the lane as `seq`. */
async function prepareLane({ sent = 0, last, gap = { from: 0, to: -1 } }: LaneOfOptions) {
  const house = await prepareSending();
  await sql`
    insert into pushes (deployment, chain, number, history_id, seq, entry_hash, digest, content, truncated, status)
    select 'a', ${chain}, number, gen_random_uuid(), row_number() over (order by number), 'e', 'd' || number,
      case when number > ${sent}::int then '{"number":' || number || '}' end, false,
      case when number > ${sent}::int then 'queued' else 'finalized' end
    from generate_series(1, ${last}::int) as number
    where number not between ${gap.from}::int and ${gap.to}::int`.execute(house.db);
  const row = { ...lane, last_number: last, sent_number: sent, stop: 'chain_ahead' };
  await house.db.insertInto('lanes').values(row).execute();
  return house;
}

/** An entry that is taken in. */
async function takeIn(db: Db, seq: number): Promise<void> {
  await transaction(db, async (trx) => {
    const { number } = await nextNumber(trx, lane, new Date(0).toISOString());
    const push = { ...lane, number, seq, history_id: crypto.randomUUID(), entry_hash: 'e', digest: 'd' };
    const content = JSON.stringify({ number });
    await trx
      .insertInto('pushes')
      .values({ ...push, content, truncated: false, error: null })
      .execute();
  });
}

/** The journal has lost its entries from this one on. */
const lose = (db: Db, seq: number) =>
  sql`
    insert into inbox_parked (consumer, ordering_key, seq, payload, reason)
    values ('c', 'a', ${seq}, '{}', 'tail_lost')`.execute(db);

/** The pushes of the lane that wait, in the order in which they are sent. */
const waiting = (db: Db) =>
  db
    .selectFrom('pushes')
    .select(['number', 'seq', 'content', 'truncated'])
    .where('deployment', '=', 'a')
    .where('status', '=', 'queued')
    .orderBy('number')
    .execute();

/** All that waits follows on the chain's number, in the order of its entries, with its number in its content. */
async function expectInOrder(db: Db, chainLast: number, count: number): Promise<void> {
  const rows = await waiting(db);
  expect(rows.map(({ number }) => number)).toEqual(
    Array.from({ length: count }, (_, at) => chainLast + 1 + at),
  );
  expect(rows.map(({ seq }) => seq)).toEqual(rows.map(({ seq }) => seq).toSorted((a, b) => a - b));
  for (const { number, content } of rows)
    if (content !== null) expect(JSON.parse(content)).toEqual({ number });
  const { last_number: last, sent_number: sent, stop } = await laneOf(db);
  expect({ last, sent, stop }).toEqual({ last: chainLast + count, sent: chainLast, stop: null });
}
const laneOf = (db: Db) =>
  db.selectFrom('lanes').selectAll().where('deployment', '=', 'a').executeTakeFirstOrThrow();

/** Rows that any one transaction has written last. */
async function mostWrittenTogether(db: Db): Promise<number> {
  const { rows } = await sql<{ most: number }>`
    select max(count) as most from (select count(*) from pushes group by xmin) as written`.execute(db);
  return Number(rows[0]?.most);
}

it.each<[string, LaneOfOptions, number]>([
  ['is ahead', { sent: 2, last: 3500 }, 8],
  ['was started anew', { sent: 3000, last: 3500 }, 0],
  ['was started anew after it had been ahead', { sent: 2, last: 3500, gap: { from: 3, to: 7 } }, 0],
  [
    'is ahead of a part, and lacks what came after',
    { sent: 2, last: 3500, gap: { from: 1200, to: 1300 } },
    8,
  ],
])('an adoption of a lane whose chain %s is written in parts', async (_what, options, chainLast) => {
  const { db } = await prepareLane(options);
  const { from, to } = options.gap ?? { from: 0, to: -1 };
  const all = options.last - Math.max(0, to - from + 1);
  expect(await adoptParts(db, 'a', chainLast)).toBe('done');
  await expectInOrder(db, chainLast, chainLast > 0 ? all - 2 : all);
  expect(await mostWrittenTogether(db)).toBeLessThanOrEqual(MOST_AT_ONCE);
});

it('an adoption goes on where a process has stopped, before the entries that were taken in meanwhile', async () => {
  const { db } = await prepareLane({ sent: 2, last: 3500 });
  for (const [at, parts] of [2, 1, 1].entries()) {
    // Whatever the chain says by now, nothing of the lane has been sent meanwhile.
    const chainLast = at === 0 ? 8 : 99;
    expect(await (at === 0 ? adoptParts : moreParts)(db, 'a', chainLast, parts)).toBe('more');
    expect((await laneOf(db)).stop).toBe('adopting');
    await takeIn(db, 4000 + at);
  }
  expect(await moreParts(db, 'a', 99)).toBe('done');
  await expectInOrder(db, 8, 3501);
  await takeIn(db, 5000);
  expect((await waiting(db)).at(-1)).toMatchObject({ number: 3510, seq: 5000 });
});

it('an adoption begins anew where its chain took a block back meanwhile', async () => {
  const { db } = await prepareLane({ sent: 2, last: 3500 });
  expect(await adoptParts(db, 'a', 8, 3)).toBe('more');
  // As when the submission of the second push is dropped.
  await db.updateTable('lanes').set({ sent_number: 1 }).execute();
  await db.updateTable('pushes').set({ status: 'queued' }).where('number', '=', 2).execute();
  expect(await moreParts(db, 'a', 8)).toBe('waits');
  expect(await moreParts(db, 'a', 1)).toBe('done');
  await expectInOrder(db, 1, 3499);
});

/** The submission of the lane's last pushes that were sent. */
async function submit(db: Db, from_number: number, to_number: number): Promise<void> {
  const values = { ...lane, signer: 's', nonce: 1, from_number, to_number };
  const { id } = await db
    .insertInto('attempts')
    .values({ ...values, state: 'included', transaction: 't' })
    .returning('id')
    .executeTakeFirstOrThrow();
  await sql`
    insert into transactions (chain, id, attempt_id, raw, terms, sent_at)
    values (${chain}, 't', ${id}, '0x', '{}', now())`.execute(db);
  await sql`
    update pushes set status = 'submitted', attempt_id = ${id}
    where number between ${from_number} and ${to_number}`.execute(db);
}

/** Compares the lane with a chain that holds its pushes from one on, each with the digest that it had, in one transaction. */
const compareWith = (db: Db, from: number, to: number) => {
  const numbers = Array.from({ length: to - from + 1 }, (_, at) => from + at);
  const recorded = numbers.map((at) => ({ from: at, to: at, digest: `d${at}`, transaction: 't' }));
  return transaction(db, (trx) => compareLane(trx, lane, 's', recorded));
};

it('an adoption pushes nothing again that its chain holds again before it is done', async () => {
  const { db } = await prepareLane({ sent: 3000, last: 3500 });
  await submit(db, 2951, 3000);
  // The server follows a fork. What it lacks is queued again in parts, until a block of the fork shows that the last one is open.
  expect(await adoptParts(db, 'a', 1500, 3)).toBe('more');
  await db.updateTable('attempts').set({ state: 'open' }).execute();
  expect(await moreParts(db, 'a', 1500)).toBe('waits');
  await db.updateTable('attempts').set({ state: 'included' }).execute();
  // The server is back on the chain, which holds all that was sent.
  const [open] = await openAdoptions(db, chain);
  expect(await moreParts(db, 'a', open?.chainLast ?? 3000)).toBe('done');
  expect(await compareWith(db, 1501, 3000)).toBe('more');
  await expectInOrder(db, 3000, 500);
  // One submission watches what was taken over.
  const watched = db.selectFrom('attempts').select('from_number').where('state', '=', 'included');
  expect(await watched.execute()).toEqual([{ from_number: 1501 }]);
});

it('an adoption that is asked for again goes on where it was', async () => {
  const { db } = await prepareLane({ sent: 3000, last: 3500 });
  const progress = () => db.selectFrom('adoptions').select('progress').executeTakeFirstOrThrow();
  expect(await adoptParts(db, 'a', 1500, 3)).toBe('more');
  const before = await progress();
  await requestAdoption(db, 'a', chain);
  expect(await progress()).toEqual(before);
  expect(await moreParts(db, 'a', 1500)).toBe('done');
  await requestAdoption(db, 'a', chain);
  expect(await progress()).toEqual({ progress: null });
});

it('an adoption begins anew where the journal has lost entries meanwhile', async () => {
  const { db } = await prepareLane({ sent: 2, last: 3500 });
  expect(await adoptParts(db, 'a', 8, 4)).toBe('more');
  await lose(db, 901);
  expect(await moreParts(db, 'a', 8)).toBe('waits');
  expect(await moreParts(db, 'a', 8)).toBe('lost');
  await expectInOrder(db, 8, 898);
});

it('an adoption lets nothing go on that a deletion has cancelled meanwhile', async () => {
  const { db } = await prepareLane({ sent: 2, last: 3500 });
  expect(await adoptParts(db, 'a', 8, 4)).toBe('more');
  await transaction(db, (trx) => cancelUnsent(trx, 'a'));
  expect(await moreParts(db, 'a', 8)).toBe('waits');
  await sweepCancelled(db, signal);
  expect(await moreParts(db, 'a', 8)).toBe('done');
  await expectInOrder(db, 8, 0);
});

it('an adoption forgets what a journal has lost in parts, and nothing is taken in before it is done', async () => {
  const { db } = await prepareLane({ sent: 2, last: 3500 });
  await lose(db, 901);
  const resolutions = async () =>
    (await sql<{ resolution: string | null }>`select resolution from inbox_parked`.execute(db)).rows;
  await stopLost(db, 'c');
  const counts: number[] = [];
  for (let part = 0; part < 3; part += 1) {
    expect(await (part === 0 ? adoptParts : moreParts)(db, 'a', 3, 1)).toBe('more');
    counts.push((await waiting(db)).length);
  }
  expect(counts).toEqual([2498, 1498, 898]);
  expect(await resolutions()).toEqual([{ resolution: null }]);
  expect(await moreParts(db, 'a', 3)).toBe('lost');
  expect(await resolutions()).toEqual([{ resolution: 'skip' }]);
  await expectInOrder(db, 3, 898);
});

it('an adoption of more pushes than are written in one round goes on in the next ones', async () => {
  const { db, start } = await prepareLane({ last: 10_500 });
  await requestAdoption(db, 'a', chain);
  // Nothing is sent: the chain costs more than the operator allows.
  const { port } = chainDouble({
    lastNumber: async () => 2,
    view: async () => ({ nonce: 0, isTooExpensive: true, terms: {} }),
  });
  await start(port);
  await vi.waitFor(async () => {
    const { outcome } = await db.selectFrom('adoptions').select('outcome').executeTakeFirstOrThrow();
    expect(outcome).toBe('goes on after number 2; 10500 pushes wait');
  });
  await expectInOrder(db, 2, 10_500);
});
