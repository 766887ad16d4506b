import { toServiceError } from '@orrery/database';
import { fillDisk } from '@orrery/testing/servers';
import { type Kysely, sql } from 'kysely';
import { expect, it } from 'vitest';
import { type Items, newDatabaseUrl, open } from './test-connection.js';

const insert = (db: Kysely<Items>, id: number) =>
  db.insertInto('items').values({ id, tags: null, at: null }).execute();

it('is full from the first statement that finds no space, in any pool, until a write finds some', async () => {
  const url = await newDatabaseUrl();
  const database = await open<Items>(url);
  await sql`create schema rooms`.execute(database.db);
  await sql`create table items (id bigint primary key, tags jsonb, at timestamptz)`.execute(database.db);
  await insert(database.db, 1);
  await using beside = database.beside({ maxConnections: 1 });
  expect(database.storage.isFull).toBe(false);
  const disk = await fillDisk(url, 'rooms.items');
  const error = await insert(beside.db, 2).catch((thrown: unknown) => thrown);
  expect(toServiceError(error)).toMatchObject({ code: 'storage_full', facts: { retryAfterSeconds: 5 } });
  expect(database.storage.isFull).toBe(true);
  // A change that finds room in a page that exists does not say that there is space.
  await sql`update items set at = now()`.execute(database.db);
  await expect.poll(disk.refusedTables).toBeGreaterThan(0);
  expect(database.storage.isFull).toBe(true);
  await disk.release();
  await expect.poll(() => database.storage.isFull).toBe(false);
  await insert(beside.db, 2);
});
