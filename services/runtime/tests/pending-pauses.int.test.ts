import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { accountPauses, operatorPauses, type PauseCause } from '../src/store/deployments/account-store.js';
import { openRuntimeDatabase } from './journal-fixture.js';

const db = await openRuntimeDatabase();
const DISABLED = [3, 4, 6];

/** The deployments of accounts 3 to 6 in turn. */
await sql`
  insert into deployments (address, world_id, world_address, owner_account_id, name, mode, is_llm_public, created_at, updated_at)
  select n, 1, 'world', 3 + n % 4, n, 'upgradable', false, now(), now() from generate_series(1, 100) n`.execute(
  db,
);
await sql`
  insert into accounts (account_id, disabled, revision)
  select id, id = any(${DISABLED}::bigint[]), 1 from generate_series(3, 6) id`.execute(db);

/** Page by page; what a page holds stays pending, as if nobody had carried it out. */
async function pagesOf(cause: PauseCause, limit: number): Promise<number[][]> {
  const pages: number[][] = [];
  for await (const page of cause.pending(limit)) {
    pages.push(page.map(({ id }) => id));
    if (pages.length > 100) throw new Error('A page begins with what earlier ones hold.');
  }
  return pages;
}

const idsOf = async (accounts: readonly number[]) =>
  (
    await sql<{
      id: number;
    }>`select id from deployments where owner_account_id = any(${[...accounts]}::bigint[])
      order by owner_account_id, id`.execute(db)
  ).rows.map(({ id }) => id);

it('finds the deployments of disabled accounts, each page behind the one before it', async () => {
  const pages = await pagesOf(accountPauses(db), 10);
  expect(pages.flat()).toEqual(await idsOf(DISABLED));
  expect(Math.max(...pages.map(({ length }) => length))).toBe(10);
});

it('finds those of accounts that are enabled again, in the same way', async () => {
  await sql`update deployments set account_paused = true where owner_account_id = any(${DISABLED}::bigint[])`.execute(
    db,
  );
  await sql`update accounts set disabled = account_id = 6`.execute(db);
  expect((await pagesOf(accountPauses(db), 7)).flat()).toEqual((await idsOf([3, 4])).sort((a, b) => a - b));
});

it('finds what the operator asked for, in the same way', async () => {
  await sql`insert into operator_pauses (deployment_id, paused) select id, id % 2 = 0 from deployments`.execute(
    db,
  );
  const ids = (await idsOf([3, 4, 5, 6])).sort((a, b) => a - b).filter((id) => id % 2 === 0);
  expect((await pagesOf(operatorPauses(db), 10)).flat()).toEqual(ids);
});
