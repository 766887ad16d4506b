import type { PageQuery } from '@orrery/contracts';
import { rowsRead } from '@orrery/testing';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import {
  listDeployments,
  listDeploymentsHere,
  paginationOfCounted,
} from '../src/store/deployments/list-deployments.js';
import { openRuntimeDatabase } from './journal-fixture.js';

const OWNER = 7;
const OTHER = 8;
const FEW_PUBLIC = 1;
const MANY_PUBLIC = 2;
const all = Array.from({ length: 64 }, (_, partition) => partition);
const db = await openRuntimeDatabase();

/** Of a world: in the order of their ids, of which every `publicEvery`th is public and every 1000th another account's. */
await plant(FEW_PUBLIC, 30_000, 10_000);
await plant(MANY_PUBLIC, 10_050, 1);
await sql`vacuum analyze deployments`.execute(db);

async function plant(world: number, count: number, publicEvery: number): Promise<void> {
  await sql`
    insert into deployments (address, world_id, world_address, owner_account_id, name, mode, is_public, is_llm_public,
      created_at, updated_at)
    select ${world}::bigint || '-' || n, ${world}, 'world',
      case when n % 1000 = 1 then ${OTHER}::integer else ${OWNER}::integer end, n,
      'upgradable', n % ${publicEvery}::integer = 0, false, now(), now() from generate_series(1, ${count}::integer) n`.execute(
    db,
  );
}

const names = async (worldId: number, accountId: number | undefined, query: PageQuery) =>
  (await listDeployments(db, { worldId, accountId }, query)).rows.map(({ name }) => Number(name));

it('shows the public ones to strangers, and to an account its own among them, page by page', async () => {
  expect(await names(FEW_PUBLIC, undefined, { page: 1, limit: 20 })).toEqual([10_000, 20_000, 30_000]);
  const seen: number[] = [];
  for (let page = 1; page <= 4; page += 1)
    seen.push(...(await names(FEW_PUBLIC, OTHER, { page, limit: 10 })));
  const own = Array.from({ length: 30 }, (_, n) => n * 1000 + 1);
  expect(seen).toEqual([...own, 10_000, 20_000, 30_000].sort((a, b) => a - b));
  expect(await names(FEW_PUBLIC, OWNER, { page: 2, limit: 3 })).toEqual([5, 6, 7]);
});

it('counts up to 10,000, in one database and over several', async () => {
  const query = { page: 1, limit: 100 };
  const { total } = await listDeployments(db, { worldId: MANY_PUBLIC, accountId: OTHER }, query);
  const counted = { page: 1, limit: 100, total: 10_000, totalPages: 100, totalIsMinimum: true };
  expect(paginationOfCounted(query, total)).toEqual(counted);
  const here = (most: number) =>
    listDeploymentsHere(db, MANY_PUBLIC, null, { most, ids: null, partitions: all });
  const { total: first, ids } = await here(100);
  expect([paginationOfCounted(query, first + 5), ids.length]).toEqual([counted, 100]);
  // A process of the release before goes by the total alone.
  expect((await here(10_010)).total).toBe(10_011);
  expect((await here(20_000)).total).toBe(10_050);
  const few = await listDeployments(db, { worldId: FEW_PUBLIC, accountId: OTHER }, query);
  expect(paginationOfCounted(query, few.total)).toEqual({ page: 1, limit: 100, total: 33, totalPages: 1 });
});

it('reads for a stranger no row that it does not show, however many the world has', async () => {
  const query = { page: 1, limit: 100 };
  const one = await rowsRead(db, 'deployments', (trx) =>
    listDeployments(trx, { worldId: FEW_PUBLIC, accountId: undefined }, query),
  );
  const several = await rowsRead(db, 'deployments', (trx) =>
    listDeploymentsHere(trx, FEW_PUBLIC, OTHER, { most: 100, ids: null, partitions: all }),
  );
  expect(Math.max(one, several)).toBeLessThanOrEqual(100);
});
