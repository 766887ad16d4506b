import { toServiceError } from '@orrery/database';
import { type Kysely, sql } from 'kysely';
import { expect, it } from 'vitest';
import { type Items, openItems, terminate } from './test-connection.js';

const insert = (db: Kysely<Items>, id: number) =>
  db.insertInto('items').values({ id, tags: null, at: null }).execute();

/** For sessions that begin from now on, as an operator would. */
const makeReadOnly = (db: Kysely<Items>, value: 'on' | 'off') =>
  sql`do $$ begin execute format('alter database %I set default_transaction_read_only = ${sql.raw(value)}',
    current_database()); end $$`.execute(db);

it('a database that takes no writes is away for changes, and is used again once it takes them', async () => {
  const database = await openItems({ maxConnections: 1 });
  await using operator = database.beside({ maxConnections: 1 });
  expect(await database.ping()).toEqual({ takesWrites: true });
  await makeReadOnly(operator.db, 'on');
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(database.db);
  await terminate({ ...database, db: operator.db }, rows[0]?.pid ?? 0);

  await expect.poll(() => database.ping().catch(() => undefined)).toEqual({ takesWrites: false });
  const refused = await insert(database.db, 1).catch((error: unknown) => error);
  expect(toServiceError(refused)).toMatchObject({
    code: 'unavailable',
    message: 'The database takes no writes now; nothing was changed.',
    facts: {},
  });
  await makeReadOnly(operator.db, 'off');
  // The sessions that began read-only are over.
  await insert(database.db, 1);
  expect(await database.ping()).toEqual({ takesWrites: true });
});
