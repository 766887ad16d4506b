import { randomUUID } from 'node:crypto';
import { FakeClock, rowsRead } from '@orrery/testing';
import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { claimInTurn } from '../src/delivering/claim-in-turn.js';
import type { Db } from '../src/store/tables/schema.js';
import { ownDatabase } from './own-database.js';

const [CROWDED, OTHER] = [7, 8];
const crowded = { most: 2, crowded: [CROWDED] };
let db: Db;
beforeEach(async () => {
  db = await ownDatabase();
  await insert(CROWDED, 600, 1000);
});

/** Webhooks that are due for so many seconds and longer. */
const insert = (account: number, seconds: number, count = 1) =>
  sql`
    insert into webhooks (id, deployment, account_id, url, secret, seq, head_seq, due_at)
    select gen_random_uuid(), 'a', ${account}, 'https://example.com/', 's', 1, 1,
      now() - (${seconds} + n) * interval '1 second' from generate_series(0, ${count - 1}::int) n`.execute(
    db,
  );
const accountsOf = (rows: readonly { account_id: number | null }[]) => rows.map((row) => row.account_id);

it('passes over once what waits of accounts that have their share', async () => {
  const clock = new FakeClock();
  const claim = claimInTurn(clock);
  await insert(OTHER, 300, 5);
  expect(accountsOf(await claim(db, false, crowded))).toEqual([OTHER, OTHER]);
  const read = await rowsRead(db, 'webhooks', async (trx) => {
    expect(accountsOf(await claim(trx, false, crowded))).toEqual([OTHER, OTHER]);
    expect(accountsOf(await claim(trx, false, crowded))).toEqual([OTHER]);
    expect(await claim(trx, false, { most: 2, crowded: [null, CROWDED] })).toEqual([]);
  });
  expect(read).toBeLessThan(100);
  await clock.advance(4000);
  await insert(OTHER, 0);
  expect(accountsOf(await claim(db, false, crowded))).toEqual([OTHER]);
});

it('claims for an account at once that has room again, and the oldest first', async () => {
  const claim = claimInTurn(new FakeClock());
  expect(await claim(db, false, crowded)).toEqual([]);
  await insert(OTHER, 300);
  const others = { most: 1000, crowded: [OTHER] };
  const claimed = await claim(db, false, others);
  expect(new Set(accountsOf(claimed))).toEqual(new Set([CROWDED]));
  expect(claimed).toHaveLength(1000);
});

it('looks again at what could not be claimed when it was passed over', async () => {
  const clock = new FakeClock();
  const claim = claimInTurn(clock);
  await insert(OTHER, 900);
  const of = (until: string) =>
    sql`
      update webhooks set claim = ${randomUUID()}, claimed_until = now() + cast(${until} as interval)
      where account_id = ${OTHER}`.execute(db);
  await of('1 minute');
  expect(await claim(db, false, crowded)).toEqual([]);
  // The process that had claimed it is gone.
  await of('-1 second');
  await clock.advance(5000);
  expect(accountsOf(await claim(db, false, crowded))).toEqual([OTHER]);
});
