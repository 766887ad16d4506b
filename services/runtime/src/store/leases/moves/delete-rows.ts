import { transaction } from '@orrery/database';
import { type RawBuilder, sql } from 'kysely';
import type { Db } from '../../tables/schema.js';
import { keysInSteps } from './carried-rows.js';
import { REPLICATED } from './moved-tables.js';

/** Deployments whose rows are looked for at once, rows that one statement deletes, and pages of a table that it looks through. */
const DEPLOYMENTS = 200;
const ROWS = 10_000;
const PAGES = 1000;

type OnDeleted = (rows: number) => void;

/**
 * Deletes what a database has of deployments of a partition that is not in it: what a move left behind, or brought in vain.
 * Whoever stops in between does it again. `onDeleted` gets the number of rows of each step.
 */
export async function deleteRows(
  db: Db,
  partition: number,
  ids: readonly number[],
  onDeleted: OnDeleted = () => undefined,
): Promise<void> {
  const indexed = await tablesByDeployment(db);
  for (let first = 0; first < ids.length; first += DEPLOYMENTS)
    await deleteOf(db, indexed, ids.slice(first, first + DEPLOYMENTS), onDeleted);
  for (const table of REPLICATED.filter((name) => !indexed.includes(name)))
    await deleteAlong(db, table, sql`deployment_id % 64 = ${partition}`, onDeleted);
  await deleteAlong(db, 'outbox', sql`shard = ${partition}`, onDeleted);
  for await (const some of keysInSteps(db, partition, '-infinity', ROWS))
    await deleteOnce(db, sql`delete from idempotency_keys where ${some}`, onDeleted);
}

/** Heads go last: they say which deployments there are to delete. */
const LAST = 'journal_heads';

async function deleteOf(
  db: Db,
  indexed: readonly string[],
  ids: readonly number[],
  onDeleted: OnDeleted,
): Promise<void> {
  const ofIndexes = sql`index_id in (select id from attribute_indexes where deployment_id = any(${ids}))`;
  await inSteps(db, 'indexed_values', ofIndexes, onDeleted);
  for (const table of ['attribute_indexes', ...indexed.filter((name) => name !== LAST), LAST])
    await inSteps(db, table, sql`deployment_id = any(${ids})`, onDeleted);
}

/** Replicated tables in which an index finds the rows of a deployment. */
async function tablesByDeployment(db: Db): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct c.relname as name from pg_class c
    join pg_index i on i.indrelid = c.oid and i.indpred is null and i.indisvalid
    join pg_attribute a on a.attrelid = c.oid and a.attname = 'deployment_id' and a.attnum = i.indkey[0]
    where c.relnamespace = 'runtime'::regnamespace and c.relname = any(${[...REPLICATED]}) order by 1`.execute(
    db,
  );
  return rows.map(({ name }) => name);
}

/** Rows that an index finds. */
async function inSteps(
  db: Db,
  table: string,
  condition: RawBuilder<unknown>,
  onDeleted: OnDeleted,
): Promise<void> {
  const some = sql`
    delete from ${sql.table(table)} where ctid = any(array(
      select ctid from ${sql.table(table)} where ${condition} limit ${ROWS}))`;
  while ((await deleteOnce(db, some, onDeleted)) === ROWS);
}

/** Rows that no index finds: the whole table is looked through once. */
async function deleteAlong(
  db: Db,
  table: string,
  condition: RawBuilder<unknown>,
  onDeleted: OnDeleted,
): Promise<void> {
  const pages = await pagesOf(db, table);
  for (let page = 0; page < pages; page += PAGES)
    await deleteOnce(
      db,
      sql`
        delete from ${sql.table(table)}
        where ctid >= ${`(${page},0)`}::tid and ctid < ${`(${page + PAGES},0)`}::tid and ${condition}`,
      onDeleted,
    );
}

async function pagesOf(db: Db, table: string): Promise<number> {
  const { rows } = await sql<{ pages: number }>`
    select pg_relation_size(${table}::regclass) / current_setting('block_size')::bigint as pages`.execute(db);
  return rows[0]?.pages ?? 0;
}

/** On a slow disk a step takes longer than other statements may. */
async function deleteOnce(db: Db, statement: RawBuilder<unknown>, onDeleted: OnDeleted): Promise<number> {
  const { numAffectedRows } = await transaction(
    db,
    async (trx) => {
      await sql`set local enable_seqscan = off`.execute(trx);
      return await statement.execute(trx);
    },
    { unbounded: true },
  );
  const rows = Number(numAffectedRows ?? 0);
  if (rows > 0) onDeleted(rows);
  return rows;
}

/** The deployments of a partition in the database from which it moves, those that left too. */
export async function deploymentsOf(source: Db, partition: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select id from deployments where id % 64 = ${partition} union
    select id from departed_deployments where id % 64 = ${partition} order by 1`.execute(source);
  return rows.map(({ id }) => id);
}

/** The deployments of a partition of which a database has journals. */
export async function journalsOf(db: Db, partition: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    select deployment_id as id from journal_heads where deployment_id % 64 = ${partition}`.execute(db);
  return rows.map(({ id }) => id);
}

/** Deletes what says which deployments left, and how far their occurrences were acknowledged: last, as the rest is found by it. */
export async function deleteDeparted(source: Db, partition: number): Promise<void> {
  const gone = sql`
    with gone as (delete from departed_deployments where id % 64 = ${partition} returning row->>'address' as address)
    delete from acknowledged_occurrences where deployment in (select address from gone)`;
  await transaction(source, (trx) => gone.execute(trx), { unbounded: true });
}

/** Deployments that came in vain. The lock waits for a mover that lets them arrive, whose rows a statement before does not see. */
export async function deleteArrived(target: Db, partition: number): Promise<void> {
  await transaction(
    target,
    async (trx) => {
      await sql`select from partitions where id = ${partition} for update`.execute(trx);
      await sql`
      update partitions set generation = 0, owner = null, expires_at = null, epoch = epoch + 1
      where id = ${partition} and generation > 0`.execute(trx);
      await sql`delete from deployments where id % 64 = ${partition}`.execute(trx);
    },
    { unbounded: 'statements' },
  );
}
