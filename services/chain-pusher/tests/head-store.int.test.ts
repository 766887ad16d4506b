import type { JournalFact } from '@orrery/contracts';
import { transaction } from '@orrery/database';
import { beforeEach, expect, it } from 'vitest';
import { takeEntry } from '../src/intake/take-entry.js';
import { postponeHead, takeDueHeads } from '../src/store/lanes/head-store.js';
import type { Db } from '../src/store/tables/schema.js';
import { ownDatabase } from './own-database.js';

const deployment = `0x${'ab'.repeat(20)}`;
/** A statement of the test's database counts as one. */
let statements = 0;
let db: Db;
beforeEach(async () => {
  db = (await ownDatabase()).withPlugin({
    transformQuery: ({ node }) => {
      statements += 1;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
});

/** Takes in an execution at a time of a day that is over; resolves with how many statements that took. */
async function take(seq: number, time: string, plan: object): Promise<number> {
  const binding = { onchain: null, targetChains: [], ...plan };
  const executed = { kind: 'execution', status: 'succeeded', executedAt: `2026-11-21T${time}.000Z`, binding };
  const entry = { id: crypto.randomUUID(), deployment, seq, hash: String(seq), ...executed };
  const before = statements;
  await transaction(db, (trx) => takeEntry(trx, entry as unknown as JournalFact, () => 8192));
  return statements - before;
}
const numbers = async () => {
  const rows = await db
    .selectFrom('pushes')
    .select(['number', 'chain', 'seq', 'head'])
    .orderBy('number')
    .execute();
  return rows.map(({ number, chain, seq, head }) => [chain, number, head === null ? seq : 'head']);
};

it('an execution takes two statements for each chain that it is pushed to, and one for each that gets heads', async () => {
  expect(await take(1, '09:10:00', { targetChains: ['a', 'b'] })).toBe(4);
  expect(await take(2, '09:20:00', { headChains: ['c'] })).toBe(1);
  expect(await take(3, '09:30:00', { headChains: ['c'] })).toBe(1);
});

it('the head of an hour has its number before what comes in a later one, also before another head', async () => {
  await take(1, '09:10:00', { headChains: ['a'] });
  await take(2, '09:20:00', { targetChains: ['a'] });
  await take(3, '10:20:00', { targetChains: ['a'] });
  await take(4, '10:30:00', { headChains: ['a'] });
  await take(5, '11:30:00', { headChains: ['a'] });
  await take(6, '11:40:00', { targetChains: ['a'] });
  expect(await numbers()).toEqual([
    ['a', 1, 2],
    ['a', 2, 'head'],
    ['a', 3, 3],
    ['a', 4, 'head'],
    ['a', 5, 6],
  ]);
});

it('a head is asked for by the one process that has taken it, by another one after its time', async () => {
  for (const chain of ['a', 'b', 'c']) await take(1, '09:10:00', { headChains: [chain] });
  const hour = 3_600_000;
  const taken = await Promise.all([takeDueHeads(db, 2, hour), takeDueHeads(db, 2, hour)]);
  const rest = await takeDueHeads(db, 2, hour);
  expect([...taken.flat(), ...rest].map(({ chain }) => chain).sort()).toEqual(['a', 'b', 'c']);
  expect(await takeDueHeads(db, 2, hour)).toEqual([]);
  const [one] = taken.flat();
  if (one === undefined) throw new Error('none was taken');
  await postponeHead(db, one, 0);
  expect(await takeDueHeads(db, 2, hour)).toEqual([one]);
});
