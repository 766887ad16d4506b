import { countUpTo, page } from '@orrery/database';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { openItems } from './test-connection.js';

async function sevenItems() {
  const database = await openItems();
  await sql`insert into items (id) select generate_series(1, 7)`.execute(database.db);
  return database.db;
}

describe('page', () => {
  it('takes the rows of one page', async () => {
    const query = (await sevenItems()).selectFrom('items').select('id').orderBy('id', 'desc');
    expect(await page(query, { page: 2, limit: 3 }).execute()).toEqual([{ id: 4 }, { id: 3 }, { id: 2 }]);
    expect(await page(query, { page: 4, limit: 3 }).execute()).toEqual([]);
  });
});

describe('countUpTo', () => {
  it('counts exactly below and at the limit, and stops above it', async () => {
    const db = await sevenItems();
    const query = db.selectFrom('items').select('id').where('id', '>', 2);
    expect(await countUpTo(db, query, 6)).toEqual({ total: 5, isMinimum: false });
    expect(await countUpTo(db, query, 5)).toEqual({ total: 5, isMinimum: false });
    expect(await countUpTo(db, query, 4)).toEqual({ total: 4, isMinimum: true });
  });
});
