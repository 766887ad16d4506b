import { sql } from 'kysely';
import type { DirectoryDb } from '../tables/directory.js';

/** Idempotency-Keys are kept for a day. */
const REPEATABLE = sql`interval '2 days'`;

/**
 * The database in which a request with an Idempotency-Key is carried out: the one that its first sending chose, whose keys
 * say whether it was carried out.
 */
export async function databaseOfCreation(
  directory: DirectoryDb,
  { accountId, operation, key }: { accountId: number; operation: string; key: string },
  chosen: string,
): Promise<string> {
  await sql`
    insert into creations (account_id, operation, key, database) values (${accountId}, ${operation}, ${key}, ${chosen})
    on conflict do nothing`.execute(directory);
  const { rows } = await sql<{ database: string }>`
    select database from creations where account_id = ${accountId} and operation = ${operation} and key = ${key}`.execute(
    directory,
  );
  return rows[0]?.database ?? chosen;
}

/** Forgets requests whose keys are forgotten too. */
export async function forgetCreations(directory: DirectoryDb): Promise<void> {
  await sql`delete from creations where made_at < now() - ${REPEATABLE}`.execute(directory);
}
