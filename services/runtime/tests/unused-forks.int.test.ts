import { rowsRead } from '@orrery/testing';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { unusedForks } from '../src/store/deployments/what-if-store.js';
import { openRuntimeDatabase, plantDeployment } from './journal-fixture.js';
import { plantMany } from './plant-many.js';

const HOUR = 3_600_000;
const db = await openRuntimeDatabase();

async function plantFork(hoursAgo: number) {
  const { id } = await plantDeployment(db);
  await plantMany(db, id, 3000, () => sql`now() - ${hoursAgo}::integer * interval '1 hour'`);
  await sql`insert into what_if_forks (deployment_id) values (${id})`.execute(db);
  await sql`insert into journal_heads (deployment_id, seq, hash, totals) values (${id}, 3000, '', '{}')
    on conflict (deployment_id) do update set seq = 3000`.execute(db);
  return id;
}

it('looks up the last entry of each live fork, and no other entries', async () => {
  const [unused, used, deleted] = [await plantFork(2), await plantFork(0), await plantFork(0)];
  await sql`update deployments set deleted_at = now() where id = ${deleted}`.execute(db);
  await sql`analyze`.execute(db);
  expect((await unusedForks(db, HOUR, 100)).map(({ id }) => id)).toEqual([unused]);
  expect(await rowsRead(db, 'journal', (trx) => unusedForks(trx, HOUR, 100))).toBe(2);
  expect(used).toBeLessThan(deleted);
});
