import { randomUUID } from 'node:crypto';
import { rowsRead } from '@orrery/testing';
import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import type { Db } from '../src/store/tables/schema.js';
import { claimWebhooks, recordAttempt } from '../src/store/webhooks/claimed-webhooks.js';
import { queueDelivery } from '../src/store/webhooks/delivery-store.js';
import { prunePassed } from '../src/store/webhooks/prune-deliveries.js';
import { insertWebhook } from '../src/store/webhooks/webhook-store.js';
import { ownDatabase } from './own-database.js';

const { signal } = new AbortController();
let db: Db;
beforeEach(async () => {
  db = await ownDatabase();
});

/** A webhook with deliveries of these ages in days, oldest first. */
async function insert(ages: readonly number[], deployment = 'a') {
  const made = {
    ...{ id: randomUUID(), deployment, accountId: 1, secret: 's' },
    head: { seq: 1, hash: null },
  };
  const { id } = await insertWebhook(db, made, { url: 'https://example.com/' });
  await sql`
    with numbered as (update webhooks set last_number = ${ages.length} where id = ${id})
    insert into webhook_deliveries (webhook_id, number, kind, state, created_at)
    select ${id}, number, 'entry', 'delivered', now() - age * interval '1 day'
    from unnest(${ages}::float8[]) with ordinality as known (age, number)`.execute(db);
  return id;
}
const setState = (number: number, state: 'queued' | 'retrying') =>
  db.updateTable('webhook_deliveries').set({ state }).where('number', '=', number).execute();
const numbersOf = async (id: string) => {
  const all = db.selectFrom('webhook_deliveries').select('number').where('webhook_id', '=', id);
  return (await all.orderBy('number').execute()).map(({ number }) => number);
};
const days = (count: number, age = 0) => Array.from({ length: count }, () => age);

it('take the place of the one 1,000 before, unless that waits for its outcome', async () => {
  const id = await insert(days(1001));
  await setState(2, 'queued');
  const [webhook] = await claimWebhooks(db, false, { most: 1, crowded: [] });
  if (webhook === undefined) throw new Error('it was not due');
  const sent = { historyId: randomUUID(), seq: 2, event: null, executedAt: new Date().toISOString() };
  const outcome = {
    attempt: { status: 200, durationMs: 1 },
    after: { step: 'delivered' },
    head: 2,
    isSlow: false,
  } as const;
  const record = () => recordAttempt(db, webhook, { ...sent, position: { seq: 2, hash: null } }, outcome);
  await record();
  await record();
  expect((await numbersOf(id)).slice(0, 3)).toEqual([1, 2, 4]);
  await queueDelivery(
    db,
    { deployment: 'a', id },
    { kind: 'test', history_id: null, seq: null, event: null },
  );
  expect((await numbersOf(id)).slice(0, 3)).toEqual([1, 2, 5]);
  // An older release gives numbers and removes nothing.
  await prunePassed(db, signal);
  expect((await numbersOf(id)).slice(0, 2)).toEqual([2, 5]);
});

it('are removed after 30 days, of all webhooks, unless they wait for their outcomes', async () => {
  const ids: string[] = [];
  for (let made = 0; made < 45; made += 1) ids.push(await insert([40, 31, 30.5, 29, 0], `d${made}`));
  const silent = await insert([40, 31]);
  await setState(2, 'retrying');
  await prunePassed(db, signal);
  for (const id of ids) expect(await numbersOf(id)).toEqual([2, 4, 5]);
  expect(await numbersOf(silent)).toEqual([2]);
});

it('are not read to find that none is too much, however many there are', async () => {
  for (let made = 0; made < 5; made += 1) await insert(days(300, 1), `d${made}`);
  expect(await rowsRead(db, 'webhook_deliveries', (trx) => prunePassed(trx, signal))).toBe(5);
});
